import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { GameService } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";

const app = useApp({}, { engines: createEnginesInProcess() });

test.each(["gRPC", "Connect", "Connect JSON"])(
  "a message over %s with half a megabyte of empty moves is refused before decoding",
  async (protocol) => {
    const sessionManager = new Http2SessionManager(app.url);
    onTestFinished(() => sessionManager.abort());
    const options = { baseUrl: app.url, sessionManager, httpVersion: "2" } as const;
    const useBinaryFormat = protocol === "Connect";
    const transport =
      protocol === "gRPC"
        ? createGrpcTransport(options)
        : createConnectTransport({ ...options, useBinaryFormat });
    const { reviewGame } = createClient(GameService, transport);
    const message = create(GameService.method.reviewGame.input, {
      moves: Array.from({ length: protocol === "Connect JSON" ? 170_000 : 260_000 }, () => ""),
    });
    const asked = Array.fromAsync(reviewGame(message));
    await expect(asked).rejects.toThrow(/more than 65536 keys, values and lists together/);
  },
);
