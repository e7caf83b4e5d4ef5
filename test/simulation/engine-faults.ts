/** What a simulated engine is doing, by what the engine itself knows. */
export type EnginePhase = "starting" | "idle" | "searching" | "cleaning";

/** A window of virtual time in which engines of a node go wrong. */
interface FaultWindow {
  /** The number of the node. */
  readonly node: number;
  readonly atMs: number;
  readonly forMs: number;
  /** The largest number of engines that this fault breaks. */
  readonly times: number;
}

type Breakdown = "engine dies" | "engine is killed" | "engine hangs" | "engine floods";

type StartProblem = "exits" | "is silent" | "no descriptor" | "file changed" | "not genuine";

type Nonsense = "illegal move" | "illegal line" | "no move" | "second answer" | "critical error";

type Failure =
  /** Happens `afterMs` after the engine entered the phase, or when the window begins. */
  | { readonly kind: Breakdown; readonly during: EnginePhase; readonly afterMs: number }
  /** The engine dies in each search of a position that begins with this FEN. */
  | { readonly kind: "engine dies at a position"; readonly fen: string; readonly afterMs: number }
  | { readonly kind: "engine starts slowly"; readonly byMs: number }
  | { readonly kind: "engine does not start"; readonly because: StartProblem }
  | { readonly kind: "engine reads go late"; readonly byMs: number }
  /** `isBusy`: the engine uses the processor. Otherwise the machine is slow. */
  | { readonly kind: "engine ignores stop"; readonly isBusy: boolean }
  | { readonly kind: "engine answers stop late"; readonly byMs: number }
  /** Prints the last iteration in time, but the best move later. */
  | { readonly kind: "engine answers late"; readonly byMs: number }
  /** Ends a search this much before its movetime. */
  | { readonly kind: "engine keeps movetime"; readonly byMs: number }
  | { readonly kind: "engine answers nonsense"; readonly what: Nonsense }
  | { readonly kind: "engine searches slowly"; readonly factor: number }
  | { readonly kind: "engine cleans slowly"; readonly byMs: number }
  /** A native engine that a node finds in this window visits other nodes than its release. */
  | { readonly kind: "engine is modified" }
  /** Equal searches of a native engine that a node finds in this window differ. */
  | { readonly kind: "engine is irreproducible" };

/** Data that can be written as JSON. A scenario contains these, and leaves them out one by one to shrink. */
export type EngineFault = FaultWindow & Failure;

type EngineFaultKind = EngineFault["kind"];

export type FaultOf<Kind extends EngineFaultKind> = Extract<EngineFault, { readonly kind: Kind }>;

/** The faults of one node. Counts how often each fault has broken an engine, so that `times` holds. */
export interface EngineFaults {
  readonly all: readonly EngineFault[];
  /** Returns the faults of the kinds that can break an engine now. */
  active<Kind extends EngineFaultKind>(...kinds: readonly Kind[]): readonly FaultOf<Kind>[];
  /** Returns false if the fault has ended, or has broken as many engines as it may. Otherwise counts one more. */
  take(fault: EngineFault): boolean;
}

export function createEngineFaults(all: readonly EngineFault[], now: () => number): EngineFaults {
  const taken = new Map<EngineFault, number>();
  const isActive = (fault: EngineFault) =>
    fault.atMs <= now() && now() < fault.atMs + fault.forMs && (taken.get(fault) ?? 0) < fault.times;

  return {
    all,
    active: <Kind extends EngineFaultKind>(...kinds: readonly Kind[]) =>
      all.filter(
        (fault): fault is FaultOf<Kind> =>
          (kinds as readonly string[]).includes(fault.kind) && isActive(fault),
      ),
    take(fault) {
      const isTaken = isActive(fault);
      if (isTaken) {
        taken.set(fault, (taken.get(fault) ?? 0) + 1);
      }
      return isTaken;
    },
  };
}
