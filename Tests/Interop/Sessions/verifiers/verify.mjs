// Verifies sessions' tokens by node's own crypto, as a backend without a library does.
// node verify.mjs WORLD: prints one verdict for each case.

import { createHash, createPublicKey, verify, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { get } from "node:https";

const world = JSON.parse(readFileSync(process.argv[2]));

function fetchKeys() {
  return new Promise((resolve, reject) => {
    get(world.jwks_uri, { ca: readFileSync(world.ca) }, (answer) => {
      let text = "";
      answer.on("data", (part) => { text += part; });
      answer.on("end", () => resolve(JSON.parse(text).keys));
    }).on("error", reject);
  });
}

function thumbprint(key) {
  const members = key.kty === "EC" ? { crv: key.crv, kty: "EC", x: key.x, y: key.y } : { e: key.e, kty: "RSA", n: key.n };
  return createHash("sha256").update(JSON.stringify(members)).digest("base64url");
}

function judge(one, keys) {
  const parts = one.token.split(".");
  if (parts.length !== 3) throw new Error("parts");
  const [header, claims] = parts.slice(0, 2).map((part) => JSON.parse(Buffer.from(part, "base64url")));
  const key = keys.find((each) => each.kid === header.kid);
  if (!key || key.alg !== header.alg || header.typ !== "at+jwt") throw new Error("header");
  const options = { key: createPublicKey({ key, format: "jwk" }), dsaEncoding: "ieee-p1363" };
  const input = Buffer.from(parts[0] + "." + parts[1]);
  if (!verify("sha256", input, options, Buffer.from(parts[2], "base64url"))) throw new Error("signature");
  if (claims.iss !== world.issuer || claims.aud !== one.audience || claims.exp <= Date.now() / 1000) throw new Error("claims");
  if (claims.cnf.jkt) {
    if (!one.jwk || claims.cnf.jkt !== thumbprint(one.jwk)) throw new Error("jkt");
  } else {
    const der = new X509Certificate(one.certificate).raw;
    if (claims.cnf["x5t#S256"] !== createHash("sha256").update(der).digest("base64url")) throw new Error("x5t");
  }
  return claims.sub;
}

const keys = await fetchKeys();
for (const one of world.cases) {
  try {
    console.log("accepted " + judge(one, keys));
  } catch (error) {
    console.log("refused " + error.message);
  }
}
