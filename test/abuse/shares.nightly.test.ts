import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { rawRequest } from "../support/raw-http.ts";
import { ask } from "./ask.ts";
import { startFen, useService } from "./started-service.ts";
import { expectOthersServed } from "./under-attack.ts";

const metrics = `http://127.0.0.1:${await freePort()}`;
const service = useService({ KIBITZ_ACCESS: "public", KIBITZ_METRICS_PORT: new URL(metrics).port });

const json = "Content-Type: application/json";

function closing(sockets: readonly Socket[]) {
  return () => {
    for (const socket of sockets) {
      socket.destroy();
    }
  };
}

test("43: six addresses with 250 bodies each that never end leave memory for the bodies of others", async () => {
  const attack = async () => {
    const sockets = Array.from({ length: 1500 }, (_, index) => {
      const localAddress = `127.0.9.${1 + (index % 6)}`;
      const socket = connect({ port: service.port, host: "127.0.0.1", localAddress });
      socket.on("error", () => {}).resume();
      socket.write(rawRequest("POST /v1/eval", [json, "Content-Length: 65536"], " ".repeat(65_000)));
      return socket;
    });
    return closing(sockets);
  };
  const requests = Array.from({ length: 200 }, () => ({ fen: startFen, depth: 1, tag: "x" }));
  const others = async () => {
    const sent = {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ requests }) + " ".repeat(60_000),
    };
    const statuses = [];
    for (let count = 0; count < 6; count++) {
      await sleep(500);
      statuses.push(
        (await ask(`${service.url}/v1/eval/batch`, { ...sent, localAddress: `127.0.97.${count + 1}` }))
          .status,
      );
    }
    return statuses;
  };
  const asking = sleep(2000).then(others);
  await expectOthersServed(service, attack, { heldMs: 8000 });
  expect((await asking).filter((status) => status === 503)).toEqual([]);
}, 60_000);

test("43: half requests on the metrics port, renewed at once, do not keep its probes out", async () => {
  const sockets = new Set<Socket>();
  let isOn = true;
  const { port } = new URL(metrics);
  const open = () => {
    if (!isOn) {
      return;
    }
    const socket = connect(Number(port), "127.0.0.1");
    sockets.add(socket);
    socket
      .on("error", () => {})
      .on("close", () => {
        sockets.delete(socket);
        setTimeout(open, 10);
      });
    socket.write("GET /healthz HTTP/1.1\r\nHo");
  };
  for (let count = 0; count < 100; count++) {
    open();
  }
  for (let probe = 0; probe < 24; probe++) {
    expect((await ask(`${metrics}/healthz`)).status).toBe(200);
    expect((await ask(`${metrics}/metrics`)).status).toBe(200);
  }
  isOn = false;
  closing([...sockets])();
});
