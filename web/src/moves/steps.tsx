import { usePage } from "../page.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Help, showHelp } from "./help.tsx";
import "./moves.css";

/** Moves between the mistakes of a review. */
export interface Mistakes {
  has(direction: "before" | "behind"): boolean;
  goTo(direction: "before" | "behind"): void;
}

/** Buttons that step through the game and turn the board, for pointers and fingers. Keys do the same. */
export function Steps({ mistakes }: { readonly mistakes?: Mistakes }) {
  const { path, line, step, flip } = usePage().game;
  const isStart = path.value.length === 1;
  const isEnd = path.value.length === line.value.length;
  return (
    <fieldset class="steps">
      <Help isReview={mistakes !== undefined} />
      <legend class="heard-only">Steps</legend>
      <StepButton icon="first" label="First position" isOff={isStart} onStep={() => step("first")} />
      <StepButton icon="back" label="One move back" isOff={isStart} onStep={() => step("back")} />
      <StepButton icon="forward" label="One move forward" isOff={isEnd} onStep={() => step("forward")} />
      <StepButton icon="last" label="Last position" isOff={isEnd} onStep={() => step("last")} />
      {mistakes && (
        <>
          <StepButton
            icon="back"
            label="Previous mistake"
            sign="?"
            isOff={!mistakes.has("before")}
            onStep={() => mistakes.goTo("before")}
          />
          <StepButton
            icon="forward"
            label="Next mistake"
            sign="?"
            isOff={!mistakes.has("behind")}
            onStep={() => mistakes.goTo("behind")}
          />
        </>
      )}
      <StepButton icon="flip" label="Flip board" onStep={flip} />
      <StepButton icon="help" label="Keys" onStep={showHelp} />
    </fieldset>
  );
}

interface StepButtonProps {
  readonly icon: IconName;
  readonly label: string;
  /** Beside the icon. */
  readonly sign?: string;
  /** True if it leads nowhere now. The button stays enabled, because a disabled button loses the focus. */
  readonly isOff?: boolean;
  onStep(): void;
}

function StepButton({ icon, label, sign, isOff = false, onStep }: StepButtonProps) {
  return (
    <button
      type="button"
      class="quiet"
      aria-label={label}
      title={label}
      aria-disabled={isOff}
      onClick={() => isOff || onStep()}
    >
      <Icon name={icon} />
      {sign && <span aria-hidden="true">{sign}</span>}
    </button>
  );
}
