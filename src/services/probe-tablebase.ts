import type { MessageShape } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Call, Implementation } from "../calls/call.ts";
import { messageFromTableMove, messageFromTableResult } from "../calls/convert.ts";
import { KibitzError } from "../errors/errors.ts";
import type { Tablebase, UnknownPosition } from "../tablebase/tablebase.ts";
import type { BeginWork } from "../thread/time-slices.ts";
import { timeoutSignal } from "../time/time.ts";
import type { Charge } from "./charge.ts";
import type { Validate } from "./validate.ts";

export interface ProbeOptions {
  readonly tablebase: Tablebase;
  /** The longest time in milliseconds that a call waits for tables that are being verified. */
  readonly tablesMaxWaitMs: number;
  readonly validate: Pick<Validate, "position">;
  readonly charge: Pick<Charge, "lookUp">;
  readonly beginWork: BeginWork;
}

type Probe = Implementation<typeof AnalysisService>["methods"]["probeTablebase"];
const { probeTablebase } = AnalysisService.method;

const retryMs = { min: 1000, max: 30_000 };

export function createProbe({
  tablebase,
  tablesMaxWaitMs,
  validate,
  charge,
  beginWork,
}: ProbeOptions): Probe {
  return async ({ fen }: MessageShape<typeof probeTablebase.input>, call: Call) => {
    const { signal, outcome } = call;
    const position = await validate.position(fen);
    using held = new DisposableStack();
    // A tool of `/mcp` looks up a position that the same request has already paid for.
    const charged = outcome.isCounted ? undefined : await charge.lookUp(call, held);
    const answer = await tablebase.probeMoves(position, {
      turn: beginWork(() => signal.throwIfAborted()),
      signal: timeoutSignal(tablesMaxWaitMs),
    });
    if (answer.kind === "miss" && answer.reason === "unverified_table") {
      // Not counted, because the service has failed.
      throw new KibitzError("starting", "A table that the position needs is being verified.", {
        retryAfterMs: retryAfter(answer),
      });
    }
    charged?.answered();
    if (answer.kind === "miss") {
      throw new KibitzError("not_in_tablebase", detailOf(answer, tablebase));
    }
    const { result, moves } = answer.value;
    return {
      fen: position.fen,
      tablebase: messageFromTableResult(result),
      moves: moves.map(messageFromTableMove),
    };
  };
}

/**
 * The service verifies all tables that the position needs. Nobody knows for how long, because each table may need others: a caller
 * that waits as long as the verification has lasted asks a few times at most, and waits at most twice as long as necessary.
 */
function retryAfter({ verifyingMs = 0 }: UnknownPosition): number {
  return Math.min(retryMs.max, Math.max(retryMs.min, verifyingMs));
}

/** Does not name the path of a file, which concerns only the operator. */
function detailOf({ reason, message }: UnknownPosition, tablebase: Pick<Tablebase, "summary">): string {
  if (reason === "unusable_table") {
    return "A table that the position needs is damaged or cannot be read.";
  }
  return tablebase.summary() === undefined
    ? "This service has no endgame tables: its operator names folders of tables in KIBITZ_SYZYGY."
    : `The endgame tables of this service do not know the position: ${message}.`;
}
