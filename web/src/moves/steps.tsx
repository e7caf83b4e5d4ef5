import { usePage } from "../page.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import "./moves.css";

export function Steps() {
  const { game, review, address, display } = usePage();
  const { drawing } = display;
  const { path, line, step, flip } = game;
  const { has, goTo } = review.mistakes;
  const isStart = path.value.length === 1;
  const isEnd = path.value.length === line.value.length;
  return (
    <fieldset class="steps">
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
      <StepButton
        label="Draw arrows and circles"
        icon="draw"
        isPressed={drawing.value}
        onStep={() => {
          drawing.value = !drawing.value;
        }}
      />
    </fieldset>
  );
}

interface StepButtonProps {
  readonly label: string;
  readonly icon: IconName;
  readonly sign?: string;
  /** True if the step is impossible. The button does not use `disabled`, because a disabled button loses the focus. */
  readonly isOff?: boolean;
  readonly isPressed?: boolean;
  onStep(): void;
}

export function StepButton({ label, icon, sign, isOff = false, isPressed, onStep }: StepButtonProps) {
  return (
    <button
      type="button"
      class="quiet"
      aria-label={label}
      title={label}
      aria-disabled={isOff}
      aria-pressed={isPressed}
      onClick={() => isOff || onStep()}
    >
      <Icon name={icon} />
      {sign && <span aria-hidden="true">{sign}</span>}
    </button>
  );
}
