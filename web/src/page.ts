import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type AnalysisState, createAnalysis } from "./analysis/create-analysis.ts";
import { createSetUpState, type SetUpState } from "./analysis/create-set-up.ts";
import { type Client, createClientState } from "./client/client.ts";
import { type Address, createAddress } from "./create-address.ts";
import { createGameState, type GameState } from "./game/create-game.ts";
import { createInput, type Input } from "./input/create-input.ts";
import { createDisplay } from "./parts/create-display.ts";
import { createRequestState, type RequestState } from "./request/request.ts";
import { createReview, type ReviewState } from "./review/create-review.ts";

export interface Page {
  readonly game: GameState;
  readonly address: Address;
  readonly client: Client;
  readonly request: RequestState;
  readonly input: Input;
  readonly display: ReturnType<typeof createDisplay>;
  readonly setUp: SetUpState;
  readonly analysis: AnalysisState;
  readonly review: ReviewState;
  dispose(): void;
}

export function createPage(): Page {
  const client = createClientState();
  const request = createRequestState(client);
  const game = createGameState();
  const address = createAddress({ game, request });
  const review = createReview({ game, client, request });
  const input = createInput({ game, address, review: review.start });
  return {
    game,
    address,
    client,
    request,
    input,
    display: createDisplay(),
    setUp: createSetUpState(game),
    review,
    analysis: createAnalysis({ game, client, request, reviewed: review.evaluationOf }),
    dispose() {
      review.dispose();
      input.dispose();
      address.dispose();
      client.dispose();
    },
  };
}

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === undefined) {
    throw new Error("the component is not inside a PageContext");
  }
  return page;
}
