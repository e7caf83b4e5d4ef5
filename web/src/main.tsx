import { render } from "preact";
import "./style/tokens.css";
import "./style/page.css";
import "./style/shell.css";
import { App } from "./app.tsx";
import { PageContext } from "./page.ts";
import { forbidMarkup } from "./parts/forbid-markup.ts";
import { keepFocus } from "./parts/keep-focus.ts";
import { thePage } from "./the-page.ts";

forbidMarkup();
thePage.address.begin();
thePage.pasted.listen();
keepFocus();
const place = document.querySelector("#page") ?? document.body;
place.replaceChildren();
render(
  <PageContext.Provider value={thePage}>
    <App />
  </PageContext.Provider>,
  place,
);
