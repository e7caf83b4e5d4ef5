import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface ForwardingServer {
  readonly url: string;
  /** The bodies of all answers, in the order in which the server sent them. */
  readonly answers: readonly unknown[];
  close(): Promise<void>;
}

/** Starts a server that forwards each POST to a service, changes the JSON of the answer, and records what it sends. */
export async function startForwardingServer(
  serviceUrl: string,
  change: (answer: unknown) => unknown,
): Promise<ForwardingServer> {
  const answers: unknown[] = [];
  const server = createServer(async (request, response) => {
    const method = "POST";
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(serviceUrl + request.url, { method, headers, body: await text(request) });
    const sent = change(await answer.json());
    answers.push(sent);
    response.writeHead(answer.status, { "Content-Type": answer.headers.get("content-type") ?? "" });
    response.end(JSON.stringify(sent));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
