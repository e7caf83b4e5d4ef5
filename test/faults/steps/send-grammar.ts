import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from "node:http2";
import { connect as connectSocket } from "node:net";
import { bytesOf, headersOf, type Parts } from "./request-grammar.ts";

/** What came back for a request: the status of a complete answer and its body, or that the connection or stream ended. */
export type Outcome =
  | { readonly kind: "answered"; readonly status: number; readonly type: string; readonly body: string }
  | { readonly kind: "cut" }
  /** The client library refuses to send the request. */
  | { readonly kind: "unsent" };

const silenceMaxMs = 10_000;

/** Rejects if the server neither answers nor ends the connection. */
async function withinSilence(work: (end: (read: () => Outcome) => void) => void): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<() => Outcome>();
  const timer = setTimeout(() => reject(new Error("silence")), silenceMaxMs);
  try {
    work(resolve);
    return (await promise)();
  } finally {
    clearTimeout(timer);
  }
}

export function sendOverHttp1(port: number, from: string, parts: Parts): Promise<Outcome> {
  return withinSilence((end) => {
    const socket = connectSocket({ port, host: "127.0.0.1", localAddress: from });
    let got = "";
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      got += text;
    });
    socket.on("error", () => {});
    socket.on("close", () => end(() => outcomeOf(got, parts.method === "HEAD")));
    socket.on("connect", () => socket.write(bytesOf(parts)));
  });
}

function outcomeOf(got: string, isHead: boolean): Outcome {
  const [, interim = ""] = /^((?:HTTP\/1\.1 1\d\d .*?\r\n\r\n)*)/s.exec(got) ?? [];
  const answer = got.slice(interim.length);
  const end = answer.indexOf("\r\n\r\n");
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(answer) ?? [];
  if (end === -1 || status === undefined) {
    return answer === "" ? { kind: "cut" } : wrong(got, "not an answer of HTTP/1.1");
  }
  const head = answer.slice(0, end);
  const rest = answer.slice(end + 4);
  const length = /^content-length: (\d+)\r?$/im.exec(head)?.[1];
  const isChunked = /^transfer-encoding: chunked\r?$/im.test(head);
  const type = /^content-type: (.*?)\r?$/im.exec(head)?.[1] ?? "";
  const isBodiless = isHead || status === "204" || status === "304";
  // An answer to bytes that are not HTTP has a body, because their method is not known.
  if (isBodiless ? rest !== "" && status !== "400" : length !== undefined && rest.length > Number(length)) {
    wrong(got, "more bytes than the answer has");
  }
  const isCut = !isBodiless && (isChunked ? !rest.endsWith("0\r\n\r\n") : rest.length < Number(length ?? 0));
  return isCut ? { kind: "cut" } : { kind: "answered", status: Number(status), type, body: rest };
}

function wrong(got: string, why: string): never {
  throw new Error(`${why}: ${JSON.stringify(got.slice(0, 600))}`);
}

export function openHttp2(base: string, from: string): ClientHttp2Session {
  return connect(base, { localAddress: from } as object).on("error", () => {});
}

export function sendOverHttp2(session: ClientHttp2Session, parts: Parts): Promise<Outcome> {
  return withinSilence((end) => {
    const { method, target, scheme, host, body, framing } = parts;
    const headers: OutgoingHttpHeaders = {
      ":method": method,
      ...(method === "CONNECT" ? {} : { ":path": target, ":scheme": scheme }),
      ":authority": host ?? "",
      ...headersOf(parts),
    };
    let status: number | undefined;
    let type = "";
    let text = "";
    let isComplete = false;
    const finish = () =>
      end(() =>
        isComplete && status !== undefined ? { kind: "answered", status, type, body: text } : { kind: "cut" },
      );
    try {
      const stream = session.request(headers, { endStream: framing === "none" });
      stream.setEncoding("latin1");
      stream.on("response", (got) => {
        status = got[":status"];
        type = got["content-type"] ?? "";
      });
      stream.on("data", (chunk: string) => {
        text += chunk;
      });
      stream.on("end", () => {
        isComplete = stream.rstCode === 0;
      });
      stream.on("error", () => {});
      stream.on("close", finish);
      if (framing !== "none") {
        stream.end(Buffer.from(body, "latin1"));
      }
    } catch {
      // Node's client sends neither all methods nor all characters.
      end(() => ({ kind: "unsent" }));
    }
  });
}
