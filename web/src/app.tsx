import { Analysis } from "./analysis/analysis.tsx";
import { SetUpPanel } from "./analysis/set-up-panel.tsx";
import { ApiPanel } from "./call/api-panel.tsx";
import { NewKey } from "./call/key-field.tsx";
import { usePage } from "./page.ts";
import { ColoursSwitch } from "./parts/colours.tsx";
import { LiveRegion } from "./parts/live-region.tsx";
import { Review } from "./review/review.tsx";
import { texts } from "./texts.ts";
import { addressOfView, views } from "./view.ts";

/** The whole page: where one is, what one does there, and the call that was made for it. */
export function App() {
  const view = usePage().address.view.value;
  return (
    <div class="shell">
      <header class="shell-header row">
        <button type="button" class="skip" onClick={() => document.querySelector("main")?.focus()}>
          {texts.skip}
        </button>
        <h1 class="shell-name">{texts.name}</h1>
        <p class="shell-about quiet-text">{texts.about}</p>
        <nav class="shell-views row" aria-label={texts.views}>
          {views.map((name) => (
            <a
              key={name}
              href={addressOfView(name)}
              {...((view === "review" ? "review" : "analysis") === name && {
                "aria-current": "page" as const,
              })}
            >
              {texts[name].title}
            </a>
          ))}
          <a href="docs">{texts.docs}</a>
        </nav>
        <div class="shell-tools">
          <ColoursSwitch />
        </div>
      </header>
      <Notice />
      <main class="shell-main" tabIndex={-1}>
        <NewKey />
        {view === "analysis" && <Analysis />}
        {view === "set-up" && <SetUpPanel />}
        {view === "review" && <Review />}
      </main>
      <div class="shell-call">
        <ApiPanel />
      </div>
      <footer class="shell-footer row quiet-text">
        <a href="problems">{texts.problems}</a>
        <a href="assets/licences.txt">{texts.licences}</a>
      </footer>
      <LiveRegion />
    </div>
  );
}

/** The message about a pasted text. */
function Notice() {
  const { notice, dismiss } = usePage().pasted;
  return notice.value === undefined ? null : (
    <p class="shell-notice" role="alert">
      {notice.value}
      <button type="button" class="quiet" onClick={dismiss}>
        Close
      </button>
    </p>
  );
}
