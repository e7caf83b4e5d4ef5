import { useState } from "preact/hooks";
import { serviceUrl } from "../client/client.ts";
import type { Exchange } from "../client/exchange.ts";
import { problemOf } from "../client/problem.ts";
import { client } from "../client/the-client.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { texts } from "../texts.ts";
import { CodeTabs } from "./code-tabs.tsx";
import { KeyField } from "./key-field.tsx";
import { LimitsView } from "./limits-view.tsx";
import { shownAnswer, shownCall, shownProblem } from "./shown-call.ts";
import { Tree } from "./tree.tsx";
import "./last-call.css";

const words = texts.call;

/** The latest call, as anybody could make it, what came of it, and whose it was. */
export function LastCall() {
  const exchange = client.lastExchange.value;
  const call = exchange && shownCall(exchange, serviceUrl());
  return (
    <aside class="last-call panel" aria-labelledby="call-title">
      <h2 id="call-title">{words.title}</h2>
      <div class="call-told">
        {exchange ? <Course exchange={exchange} /> : <p class="quiet-text">{words.none}</p>}
        {call && <CodeTabs call={call} />}
        {exchange && <Answer exchange={exchange} />}
        <p class="quiet-text">
          <a href="docs">{texts.docs}</a>
        </p>
      </div>
      <div class="call-caller">
        <KeyField />
        {exchange?.headers && <LimitsView headers={exchange.headers} />}
      </div>
    </aside>
  );
}

/** How the call went, in a line. */
function Course({ exchange }: { readonly exchange: Exchange }) {
  const { method, state, totalMs, headers } = exchange;
  const requestId = headers?.get("X-Request-Id");
  return (
    <ul class="course">
      <li>
        <b>{method.name}</b> <span>{words.states[state]}</span>
      </li>
      {totalMs !== undefined && <li>{words.took(totalMs)}</li>}
      {requestId && (
        <li>
          {words.requestId} <code>{requestId}</code>
        </li>
      )}
    </ul>
  );
}

function Answer({ exchange }: { readonly exchange: Exchange }) {
  const [isOpen, setIsOpen] = useState(false);
  const { method, answer, error } = exchange;
  const problem = error === undefined ? undefined : problemOf(error);
  if (answer === undefined && problem === undefined) {
    return null;
  }
  const plain = () => (problem ? shownProblem(problem) : answer ? shownAnswer(method, answer) : {});
  return (
    <section class="answer" aria-labelledby="answer-title">
      <details open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>
          <h3 id="answer-title">{words.answer}</h3>
        </summary>
        {isOpen && <Tree value={plain()} />}
      </details>
      <CopyButton label={words.copyAnswer} text={() => JSON.stringify(plain(), null, 2)} />
    </section>
  );
}
