import { usePage } from "../page.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Display, showDisplay } from "./display.tsx";
import { Help, showHelp } from "./help.tsx";
import "./moves.css";

export function Steps() {
  const { game, review, address } = usePage();
  const { path, line, step, flip } = game;
  const { has, goTo } = review.mistakes;
  const isStart = path.value.length === 1;
  const isEnd = path.value.length === line.value.length;
  return (
    <fieldset class="steps">
      <Help />
      <Display />
      <legend class="heard-only">Steps</legend>
      <StepButton label="First position" icon="first" isOff={isStart} onStep={() => step("first")} />
      <StepButton label="One move back" icon="back" isOff={isStart} onStep={() => step("back")} />
      <StepButton label="One move forward" icon="forward" isOff={isEnd} onStep={() => step("forward")} />
      <StepButton label="Last position" icon="last" isOff={isEnd} onStep={() => step("last")} />
      {address.view.value === "review" && (
        <>
          <StepButton
            label="Previous mistake"
            icon="back"
            sign="?"
            isOff={!has("before")}
            onStep={() => goTo("before")}
          />
          <StepButton
            label="Next mistake"
            icon="forward"
            sign="?"
            isOff={!has("behind")}
            onStep={() => goTo("behind")}
          />
        </>
      )}
      <StepButton label="Flip board" icon="flip" onStep={flip} />
      <StepButton label="Display" icon="display" onStep={showDisplay} />
      <StepButton label="Keys" icon="help" onStep={showHelp} />
    </fieldset>
  );
}

interface StepButtonProps {
  readonly label: string;
  readonly icon: IconName;
  readonly sign?: string;
  /** True if the step is impossible. The button does not use `disabled`, because a disabled button loses the focus. */
  readonly isOff?: boolean;
  onStep(): void;
}

function StepButton({ label, icon, sign, isOff = false, onStep }: StepButtonProps) {
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
