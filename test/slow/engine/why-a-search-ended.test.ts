import { testWhySearchesEnd } from "./why-a-search-ended.ts";

testWhySearchesEnd(0.3);
