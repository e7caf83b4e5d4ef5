import { once } from "node:events";
import { connect as connectHttp2, type Http2ServerRequest } from "node:http2";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createHttp2Server } from "../../src/http/listener/http2-server.ts";
import { listenerLimits } from "../../src/http/listener/limits.ts";
import { type Owner, ownEvents, ownerNow, runAs } from "../../src/request/owner.ts";

test.each(["GET", "POST"])(
  "a %s request over HTTP/2 begins in the context of its connection",
  async (method) => {
    const owners: (Owner | undefined)[] = [];
    const ended: unknown[] = [];
    const { accept } = createHttp2Server(
      ({ stream }: Http2ServerRequest) => {
        owners.push(ownerNow());
        stream.respond({ ":status": 200 }, { endStream: true });
      },
      () => ({ kind: "counted" }),
      listenerLimits,
      () => {},
      { watch: () => {} },
    );
    const owner: Owner = { fields: {}, end: (error) => ended.push(error) };
    const server = createServer((socket) => {
      ownEvents(socket, owner);
      runAs(owner, () => accept(socket));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => {
      client.destroy();
      server.close();
    });
    const call = client.request({ ":method": method, ":path": "/" });
    call.resume().end();
    await once(call, "close");
    expect(owners).toEqual([owner]);
    expect(ended).toEqual([]);
  },
);
