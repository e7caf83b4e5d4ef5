import { expect } from "vitest";
import type { AnswerCase } from "./case.ts";

const common = { kind: "answer", request: {} } as const;

export const listings: readonly AnswerCase[] = [
  {
    ...common,
    call: "listEngines",
    name: "lists the engines with all that a caller can ask of them",
    answer: {
      latest: "stockfish-19-lite",
      engines: [
        { id: "stockfish-19", latest: false, paths: [{ net: "full" }] },
        {
          id: "stockfish-19-lite",
          name: "Stockfish 19 Lite WASM",
          author: "the Stockfish developers (see AUTHORS file)",
          family: "stockfish",
          version: "19",
          license: "GPL-3.0-or-later",
          status: "stable",
          latest: true,
          variants: ["standard", "chess960"],
          paths: [
            {
              path: "wasm",
              available: true,
              net: "lite",
              sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
              threads: 1,
              hash_mb: 4,
            },
          ],
          default_path: "wasm",
          options_schema: {
            $schema: "https://json-schema.org/draft/2020-12/schema",
            type: "object",
            additionalProperties: false,
            properties: {
              skill_level: {
                type: "integer",
                minimum: 0,
                maximum: 20,
                default: 20,
                title: expect.any(String),
                "x-uci-name": "Skill Level",
              },
            },
          },
          options_defaults: { skill_level: 20, uci_limit_strength: false, uci_chess960: false },
        },
      ],
    },
  },
  {
    ...common,
    call: "getPrice",
    name: "shows the price and the plans",
    answer: {
      operation: "eval",
      unit: "call",
      amount: "0",
      currency: "USD",
      paid_enabled: false,
      plans: [
        {
          id: "keyless",
          requires_key: false,
          limits: {
            depth_max: 30,
            multipv_max: 10,
            movetime_ms_max: 60_000,
            rates: [],
            nodes_max: 1_000_000_000,
            review_plies_max: 600,
            batch_max: 200,
          },
        },
      ],
    },
    absent: ["estimate", "key_url"],
  },
  {
    ...common,
    call: "getPrice",
    name: "estimates a request",
    request: { depth: 20, multipv: 3, movetime_ms: 1000 },
    answer: { estimate: { typical_ms: 1000, allowed: [{ plan: "keyless", allowed: true }] } },
  },
  {
    ...common,
    call: "getPrice",
    name: "estimates a request by its nodes",
    request: { nodes: 1_000_000_000 },
    answer: { estimate: { typical_ms: 60_000, allowed: [{ plan: "keyless", allowed: true }] } },
  },
];
