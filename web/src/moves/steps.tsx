import { usePage } from "../page.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { texts } from "../texts.ts";
import { Help, showHelp } from "./help.tsx";
import "./moves.css";

const words = texts.moves;

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
      <legend class="heard-only">{words.steps}</legend>
      <StepButton name="first" isOff={isStart} onStep={() => step("first")} />
      <StepButton name="back" isOff={isStart} onStep={() => step("back")} />
      <StepButton name="forward" isOff={isEnd} onStep={() => step("forward")} />
      <StepButton name="last" isOff={isEnd} onStep={() => step("last")} />
      {mistakes && (
        <>
          <StepButton
            name="previousMistake"
            icon="back"
            sign="?"
            isOff={!mistakes.has("before")}
            onStep={() => mistakes.goTo("before")}
          />
          <StepButton
            name="nextMistake"
            icon="forward"
            sign="?"
            isOff={!mistakes.has("behind")}
            onStep={() => mistakes.goTo("behind")}
          />
        </>
      )}
      <StepButton name="flip" onStep={flip} />
      <StepButton name="help" onStep={showHelp} />
    </fieldset>
  );
}

interface StepButtonProps {
  readonly name: keyof typeof words.names;
  readonly icon?: IconName;
  /** Beside the icon. */
  readonly sign?: string;
  /** True if it leads nowhere now. The button stays enabled, because a disabled button loses the focus. */
  readonly isOff?: boolean;
  onStep(): void;
}

function StepButton({ name, icon = name as IconName, sign, isOff = false, onStep }: StepButtonProps) {
  const label = words.names[name];
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
