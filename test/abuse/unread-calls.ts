import { describe, test } from "vitest";
import { rpcOf } from "./calls.ts";
import { useService } from "./started-service.ts";
import { emptyGrpc, floodWithStreams, type StreamFlood } from "./stream-flood.ts";
import { expectOthersServed } from "./under-attack.ts";

const addresses = (count: number) => Array.from({ length: count }, (_, index) => `127.0.9.${index + 1}`);
const check = { path: "/grpc.health.v1.Health/Check" };
const price = { path: rpcOf("GetPrice"), ...emptyGrpc, connectionsPerAddress: 3, tinyHeaders: 110 };

/** The attacker opens a window of nothing, so that no answer can be sent. */
const attacks: Readonly<Record<string, Omit<StreamFlood, "port">>> = {
  "25,600 checks of one address with 110 headers": {
    ...check,
    ...emptyGrpc,
    addresses: addresses(1),
    connectionsPerAddress: 256,
    tinyHeaders: 110,
  },
  "25,600 checks of one address": {
    ...check,
    ...emptyGrpc,
    addresses: addresses(1),
    connectionsPerAddress: 256,
  },
  "25,600 checks of one address over Connect": {
    ...check,
    contentType: "application/json",
    body: Buffer.from("{}"),
    addresses: addresses(1),
    connectionsPerAddress: 256,
  },
  "76,800 probes of three addresses": {
    method: "GET",
    path: "/healthz",
    addresses: addresses(3),
    connectionsPerAddress: 256,
  },
  "25,600 probes of one address with 118 headers": {
    method: "GET",
    path: "/healthz",
    addresses: addresses(1),
    connectionsPerAddress: 256,
    tinyHeaders: 118,
  },
  "2,560 large pages of ten addresses": {
    method: "GET",
    path: "/openapi.json",
    addresses: addresses(10),
    connectionsPerAddress: 3,
  },
  "6,000 calls of 20 addresses with 110 headers": { ...price, addresses: addresses(20) },
  "18,000 calls of 60 addresses with 110 headers": { ...price, addresses: addresses(60) },
};

/** Requests that are refused at once also need memory, until the garbage collector runs. */
const grownMaxBytes = 600e6;

/** Tests the attacks for which `isTested` returns true. */
export function testUnreadCalls(isTested: (access: "public" | "open", attack: string) => boolean): void {
  describe.each(["public", "open"] as const)("40: answers that nobody reads, in %s mode", (access) => {
    const service = useService({ KIBITZ_ACCESS: access });

    test.each(Object.entries(attacks).filter(([name]) => isTested(access, name)))(
      `${access} mode: the service answers others while nobody reads the answers to %s`,
      async (_, flood) => {
        const attack = () => floodWithStreams({ ...flood, port: service.port });
        await expectOthersServed(service, attack, {
          heldMs: 12_000,
          grownBytes: grownMaxBytes,
          hasRoomForOthers: access === "public",
        });
      },
      60_000,
    );
  });
}
