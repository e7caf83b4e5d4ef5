import { texts } from "../texts.ts";
import { nextJudged } from "./judged.ts";
import { goTo, goToJudged, orientation, place } from "./looked-at.ts";
import { explained } from "./run-review.ts";

const words = texts.review;

/** Buttons that step through a game, for those who do not use the keys. */
export function Steps({ plies }: { readonly plies: number }) {
  const { ply } = place.value;
  const steps = [
    { label: words.first, icon: "M4 3v10M13 3L6.5 8l6.5 5Z", to: 0, isOff: ply === 0 },
    { label: words.previous, icon: "M11 3L4.5 8l6.5 5Z", to: ply - 1, isOff: ply === 0 },
    { label: words.next, icon: "M5 3l6.5 5L5 13Z", to: ply + 1, isOff: ply === plies },
    { label: words.last, icon: "M12 3v10M3 3l6.5 5L3 13Z", to: plies, isOff: ply === plies },
  ];
  const judged = [
    { label: words.previousJudged, icon: "M9 4.5L4 8l5 3.5Z", direction: "before" },
    { label: words.nextJudged, icon: "M7 4.5L12 8l-5 3.5Z", direction: "behind" },
  ] as const;
  return (
    <div class="review-steps row">
      {steps.map(({ label, icon, to, isOff }) => (
        <StepButton
          key={label}
          label={label}
          icon={icon}
          isOff={isOff}
          onStep={() => goTo({ ply: to, step: 0 })}
        />
      ))}
      {judged.map(({ label, icon, direction }) => (
        <StepButton
          key={label}
          label={label}
          icon={icon}
          sign="?"
          isOff={nextJudged(explained.value, ply, direction) === undefined}
          onStep={() => goToJudged(direction)}
        />
      ))}
      <StepButton
        label={words.flip}
        icon="M5 14V5M5 2L2 6h6ZM11 2v9M11 14l3-4H8Z"
        isOff={false}
        onStep={() => {
          orientation.value = orientation.value === "white" ? "black" : "white";
        }}
      />
    </div>
  );
}

interface StepButtonProps {
  readonly label: string;
  /** The `d` of a path in a box of 16 by 16. */
  readonly icon: string;
  /** Beside the icon. */
  readonly sign?: string;
  /** It leads nowhere now. It stays where focus may be. */
  readonly isOff: boolean;
  onStep(): void;
}

function StepButton({ label, icon, sign, isOff, onStep }: StepButtonProps) {
  return (
    <button
      type="button"
      class="quiet"
      aria-label={label}
      title={label}
      aria-disabled={isOff}
      onClick={() => isOff || onStep()}
    >
      <svg class="review-icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path d={icon} />
      </svg>
      {sign && <span aria-hidden="true">{sign}</span>}
    </button>
  );
}
