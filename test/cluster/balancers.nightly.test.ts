import { describeWith } from "../support/needs.ts";
import { testBalancer } from "./balancer-contract.ts";
import { balancers } from "./balancers.ts";

describeWith("nginx")("the other balancers", () => {
  testBalancer(balancers.nginx);
});
describeWith("envoy")("the other balancers", () => {
  testBalancer(balancers.envoy);
});
