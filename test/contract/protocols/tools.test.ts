import { globSync, readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { Code, createClient, type Transport } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";
import { credentials, loadPackageDefinition, type ServiceError, status } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { http2Get } from "../../http/http2-get.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { exchange, problemOf } from "../../support/raw-http.ts";
import { useApp } from "../../support/running-app.ts";
import { type ToolClient, toolClients } from "./tool-clients.ts";

// Analyses need a key in this mode, but health and reflection do not.
const app = useApp({ KIBITZ_ACCESS: "keys" }, { engines: createEnginesInProcess() });

const services = [
  "chess.analysis.v1.AnalysisService",
  "chess.analysis.v1.GameService",
  "chess.analysis.v1.KeyService",
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
];
const checkPath = "/grpc.health.v1.Health/Check";
const reflectionPath = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const isAlive = async () => (await fetch(`${app.url}${checkPath}`, json("{}"))).status === 200;
const json = (body: string, type = "application/json") => ({
  method: "POST",
  headers: { "Content-Type": type },
  body,
});

const conversation = { ":method": "POST", ":path": reflectionPath, "content-type": "application/grpc" };
const question = Buffer.from([0, 0, 0, 0, 2, 0x3a, 0]);

async function* listServices() {
  yield { messageRequest: { case: "listServices", value: "" } } as const;
}

function useTransport(open: ToolClient["open"]): () => Transport {
  let transport: Transport;
  let sessions: Http2SessionManager;
  beforeAll(() => {
    sessions = new Http2SessionManager(app.url);
    transport = open(app.url, sessions);
  });
  afterAll(() => sessions.abort());
  return () => transport;
}

describe.each(toolClients)("health through $name", ({ open }) => {
  const transport = useTransport(open);

  test("the health service needs no key, has no limits and returns the request id of the client", async () => {
    let headers = new Headers();
    const answer = await createClient(Health, transport()).check(
      { service: "chess.analysis.v1.AnalysisService" },
      {
        headers: { "X-Request-Id": "mine" },
        onHeader(got) {
          headers = got;
        },
      },
    );
    expect(answer.status).toBe(Status.SERVING);
    expect(headers.get("x-request-id")).toBe("mine");
    expect(headers.get("ratelimit")).toBeNull();
  });

  test("the server removes a health watch when its client disconnects", async () => {
    const leaving = new AbortController();
    const watch = createClient(Health, transport()).watch({ service: "nope" }, { signal: leaving.signal });
    const stream = watch[Symbol.asyncIterator]();
    expect((await stream.next()).value).toMatchObject({ status: Status.SERVICE_UNKNOWN });
    const next = stream.next();
    leaving.abort();
    await expect(next).rejects.toMatchObject({ code: Code.Canceled });
  });

  test("the health service ignores credentials", async () => {
    const headers = { Authorization: "Bearer kbz_wrong" };
    const answer = await createClient(Health, transport()).check({}, { headers });
    expect(answer).toMatchObject({ status: Status.SERVING });
  });
});

describe.each(toolClients.filter(({ duplex }) => duplex))("reflection through $name", ({ open }) => {
  const transport = useTransport(open);

  test("the reflection service ignores credentials", async () => {
    const client = createClient(ServerReflection, transport());
    const headers = { Authorization: "Bearer kbz_wrong" };
    expect(await Array.fromAsync(client.serverReflectionInfo(listServices(), { headers }))).toHaveLength(1);
  });

  test.each([ServerReflection, ServerReflectionV1alpha])(
    "reflection with the service $typeName lists all services",
    async (version) => {
      const client = createClient(version as typeof ServerReflection, transport());
      const answers = await Array.fromAsync(client.serverReflectionInfo(listServices()));
      expect(answers).toMatchObject([
        { messageResponse: { value: { service: services.map((name) => ({ name })) } } },
      ]);
    },
  );

  test("a reflection stream answers one request after the other, and ends at a request that is too long", async () => {
    const questions: string[] = [];
    let wake = () => {};
    const requests = (async function* () {
      for (;;) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        yield { messageRequest: { case: "fileByFilename", value: questions.shift() ?? "" } } as const;
      }
    })();
    const stream = createClient(ServerReflection, transport()).serverReflectionInfo(requests);
    const answers = stream[Symbol.asyncIterator]();
    const ask = (question: string) => {
      const answer = answers.next();
      questions.push(question);
      setTimeout(() => wake(), 20);
      return answer;
    };
    expect((await ask("google/protobuf/struct.proto")).value).toMatchObject({
      messageResponse: { case: "fileDescriptorResponse" },
    });
    expect((await ask("nope")).value).toMatchObject({
      messageResponse: { case: "errorResponse", value: { errorCode: Code.NotFound } },
    });
    await expect(ask("x".repeat(70_000))).rejects.toMatchObject({ code: Code.ResourceExhausted });
  });
});

describe("grpc-js with the .proto files", () => {
  // biome-ignore lint/suspicious/noExplicitAny: proto-loader knows the names at run time only
  const { grpc }: any = loadPackageDefinition(
    loadSync(["grpc/health/v1/health.proto", "grpc/reflection/v1/reflection.proto"], {
      includeDirs: ["third_party"],
      enums: String,
      oneofs: true,
    }),
  );
  const open = (kind: new (host: string, as: object) => { close(): void }) => {
    const client = new kind(new URL(app.url).host, credentials.createInsecure());
    onTestFinished(() => client.close());
    // biome-ignore lint/suspicious/noExplicitAny: as above
    return client as any;
  };

  test("grpc-js can check and watch health, and gets not found for an unknown service", async () => {
    const client = open(grpc.health.v1.Health);
    const check = (service: string) =>
      new Promise<{ error: ServiceError | null; answer?: unknown }>((resolve) =>
        client.check({ service }, (error: ServiceError | null, answer: unknown) =>
          resolve({ error, answer }),
        ),
      );
    expect(await check("")).toMatchObject({ error: null, answer: { status: "SERVING" } });
    expect((await check("nope")).error?.code).toBe(status.NOT_FOUND);
    const watch = client.watch({ service: "" });
    watch.on("error", () => {});
    const states = watch[Symbol.asyncIterator]();
    expect((await states.next()).value).toEqual({ status: "SERVING" });
    watch.cancel();
  });

  test("grpc-js can read the proto files through reflection", async () => {
    const stream = open(grpc.reflection.v1.ServerReflection).serverReflectionInfo();
    stream.write({ fileContainingSymbol: "chess.analysis.v1.KeyService.CreateKey" });
    stream.end();
    const [answer] = await Array.fromAsync<{ fileDescriptorResponse: { fileDescriptorProto: Buffer[] } }>(
      stream,
    );
    expect(answer?.fileDescriptorResponse.fileDescriptorProto.length).toBeGreaterThan(5);
  });
});

test("reflection lists every service of the .proto files, and every listed call exists", async () => {
  const protos = globSync(["proto/**/*.proto", "third_party/grpc/**/*.proto"]).map((path) =>
    readFileSync(path, "utf8"),
  );
  const declared = protos.flatMap((proto) => {
    const pack = /^package (.+);$/m.exec(proto)?.[1];
    return [...proto.matchAll(/^service (\w+) {([\s\S]*?)^}/gm)].map(([, name, body = ""]) => ({
      name: `${pack}.${name}`,
      calls: [...body.matchAll(/^ {2}rpc (\w+)/gm)].map(([, call]) => call),
    }));
  });
  expect(declared.map(({ name }) => name).toSorted()).toEqual(services.toSorted());
  for (const { name, calls } of declared) {
    expect(calls).not.toEqual([]);
    for (const call of calls) {
      // A known call is rejected because it needs POST. An unknown call is not found.
      const answer = await fetch(`${app.url}/${name}/${call}`, { method: "DELETE" });
      expect([call, answer.status]).not.toEqual([call, 404]);
    }
  }
});

test("health over Connect answers in JSON, so curl can call it", async () => {
  const answer = await fetch(`${app.url}${checkPath}`, json('{"service": "chess.analysis.v1.KeyService"}'));
  expect([answer.status, await answer.json()]).toEqual([200, { status: "SERVING" }]);
  const all = await fetch(`${app.url}/grpc.health.v1.Health/List`, json("{}"));
  expect(await all.json()).toMatchObject({ statuses: { "": { status: "SERVING" } } });
});

describe("an invalid call of health or reflection", () => {
  test.each([
    ["an unsupported content type", checkPath, json("{}", "text/plain"), 415],
    ["gRPC over HTTP/1.1", checkPath, json("", "application/grpc"), 415],
    ["a bidirectional stream over HTTP/1.1", reflectionPath, json("", "application/connect+json"), 400],
    ["GET", checkPath, {}, 405],
    ["an unknown field", checkPath, json('{"nope": 1}'), 400],
    ["an unknown call", "/grpc.health.v1.Health/Nope", json("{}"), 501],
    ["an unknown service", "/grpc.health.v1.Nope/Check", json("{}", "application/proto"), 501],
    ["an older version", "/grpc.health.v1alpha.Health/Check", json("{}"), 404],
  ])(
    "an invalid call of health or reflection is refused, and the server keeps running: %s",
    async (_, path, init, status) => {
      const answer = await fetch(app.url + path, init);
      expect(answer.status).toBe(status);
      expect(answer.headers.get("x-request-id")).toMatch(/./);
      expect(await answer.json()).toMatchObject({ code: expect.any(String) });
      expect(await isAlive()).toBe(true);
    },
  );

  test.each([checkPath, reflectionPath])(
    "a request with a malformed host is refused, and the server keeps running, for %s",
    async (path) => {
      const port = Number(new URL(app.url).port);
      const head = `POST ${path} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n`;
      for (const host of ["Host: [\r\n", "Host: a b\r\n", "Host: %\r\n", "Host: x:99999\r\n", ""]) {
        expect(problemOf(await exchange(port, `${head}${host}\r\n{}`))).toMatchObject({
          status: 400,
          code: "malformed_http",
        });
      }
      for (const authority of ["[", "%", "x:99999"]) {
        const headers = { ":method": "POST", ":path": path, ":authority": authority };
        const answer = await http2Get(app.url, { ...headers, "content-type": "application/grpc" }, "");
        expect(answer).toMatchObject({ status: 400 });
      }
      expect(await isAlive()).toBe(true);
    },
  );

  test.each([
    ["nothing", Buffer.alloc(0), { "grpc-status": "0" }],
    ["half a message", Buffer.from([0, 0, 0, 0, 9, 1]), { "grpc-status": "3" }],
    ["bytes that are not a message", Buffer.from([0, 0, 0, 0, 2, 0x0a, 0xff]), { "grpc-status": "3" }],
    ["a message length of 4 GiB", Buffer.from([0, 255, 255, 255, 255, 1]), { "grpc-status": "8" }],
  ])(
    "a reflection stream with %s is refused or ended, and the server keeps running",
    async (_, body, trailers) => {
      const client = connectHttp2(app.url);
      onTestFinished(() => client.destroy());
      const call = client.request(conversation);
      const ended = new Promise((resolve) => call.on("trailers", resolve));
      call.resume().end(body);
      expect(await ended).toMatchObject(trailers);
      expect(await isAlive()).toBe(true);
    },
  );
});

test("the server removes a reflection stream after any kind of disconnect, and keeps running", async () => {
  for (let round = 0; round < 30; round++) {
    const client = connectHttp2(app.url);
    client.on("error", () => {});
    const call = client.request(conversation);
    call.on("error", () => {});
    call.write(question);
    await new Promise((resolve) => (round % 3 === 0 ? setImmediate(resolve) : call.once("data", resolve)));
    if (round % 2 === 0) {
      call.close(8);
    }
    client.destroy();
  }
  // More streams than an address may have open. The server must have removed every stream from its count.
  await expect
    .poll(async () => (await http2Get(app.url, conversation, question)).body)
    .toContain("grpc.health.v1.Health");
  expect(await isAlive()).toBe(true);
});
