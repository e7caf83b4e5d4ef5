import { createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { KeyService } from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import { recordExchange } from "./exchange.ts";
import { key } from "./key.ts";

/** The address of the page and of the service, also behind a proxy that strips a prefix. */
export const baseUrl = new URL(".", location.href).href.replace(/\/$/, "");

const sendKey: Interceptor = (next) => (request) => {
  if (key.value !== "") {
    request.header.set("Authorization", `Bearer ${key.value}`);
  }
  return next(request);
};

// JSON, so that whoever looks at the browser's network sees what the page shows.
const transport = createConnectTransport({ baseUrl, interceptors: [sendKey, recordExchange] });

/** The only ways in which the page calls the service: the generated clients, over Connect. */
export const analyses = createClient(AnalysisService, transport);
export const games = createClient(GameService, transport);
export const keys = createClient(KeyService, transport);
