import {
  createClient,
  type Interceptor,
  type Client as RpcClient,
  type Transport,
} from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import type { ReadonlySignal, Signal } from "@preact/signals";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { KeyService } from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import { type Account, createAccount } from "./account.ts";
import { createExchanges, type Exchange } from "./exchange.ts";
import { createKey } from "./key.ts";
import { createOffer, type Offer } from "./offer.ts";

export interface Client {
  /** The page sends all requests with these three clients. */
  readonly analyses: RpcClient<typeof AnalysisService>;
  readonly games: RpcClient<typeof GameService>;
  readonly keys: RpcClient<typeof KeyService>;
  /** Empty if the page has no key. */
  readonly key: Signal<string>;
  readonly isKeyRemembered: Signal<boolean>;
  /** Omits calls with {@link aside}, which the page does not show. */
  readonly lastExchange: ReadonlySignal<Exchange | undefined>;
  readonly offer: Offer;
  readonly account: Account;
  dispose(): void;
}

/** The address includes the path prefix of the service. */
export function serviceUrl(): string {
  return new URL(".", location.href).href.replace(/\/$/, "");
}

export function createClientState(connect: (interceptors: Interceptor[]) => Transport = overConnect): Client {
  const { key, isRemembered, dispose: forgetKey } = createKey();
  const { lastExchange, record } = createExchanges();
  const sendKey: Interceptor = (next) => (request) => {
    if (key.peek() !== "") {
      request.header.set("Authorization", `Bearer ${key.peek()}`);
    }
    return next(request);
  };
  const transport = connect([sendKey, record]);
  const analyses = createClient(AnalysisService, transport);
  const games = createClient(GameService, transport);
  const keys = createClient(KeyService, transport);
  const offer = createOffer(analyses);
  const account = createAccount({ keys, key, offer });
  return {
    analyses,
    games,
    keys,
    key,
    isKeyRemembered: isRemembered,
    lastExchange,
    offer,
    account,
    dispose() {
      account.dispose();
      offer.dispose();
      forgetKey();
    },
  };
}

/** Uses JSON, so that people can read the requests in the browser's network panel. */
function overConnect(interceptors: Interceptor[]): Transport {
  return createConnectTransport({ baseUrl: serviceUrl(), interceptors });
}
