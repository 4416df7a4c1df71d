import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Tokens

/// What passes for a token nowhere, whatever kind of token it is made of.
enum HostileTexts {
    /// Texts around a good token that are none.
    static func around(_ draft: TokenDraft, _ signer: ProviderSigner) throws -> [String] {
        let good = try signer.sign(draft)
        let parts = good.split(separator: ".").map(String.init)
        let (input, signature) = ("\(parts[0]).\(parts[1])", parts[2])
        let (headerText, payloadText) = (
            JSONValue.object(draft.header).jsonText, JSONValue.object(draft.payload).jsonText
        )
        var symmetric = draft
        symmetric[header: "alg"] = .string("HS256")
        let macInput = [JSONValue.object(symmetric.header), .object(symmetric.payload)]
            .map { Base64URL.encode(Array($0.jsonText.utf8)) }.joined(separator: ".")
        let key = try signer.verificationKey
        let macs = [Array(key.pem.utf8), key.subjectPublicKeyInfo, key.thumbprint].map { secret in
            HMAC<SHA256>.authenticationCode(for: Data(macInput.utf8), using: SymmetricKey(data: secret))
        }
        return try [
            "x", "..", input, "\(input).", "\(input).\(signature.dropLast(4))", good + "=", good + ".AA",
            good + ".AA.AA", good + "\n", "\(good),\(good)", "\(parts[0]).\(parts[0]).\(signature)",
            String(repeating: "A", count: 9000), try ProviderSigner(signer.algorithm).sign(draft),
            signer.sign(headerText: #"{"alg":"ES256","# + headerText.dropFirst(), payloadText: payloadText),
            signer.sign(headerText: headerText, payloadText: #"{"iss":"x","# + payloadText.dropFirst()),
            // A token that is nested in another.
            signer.sign(headerText: headerText, payloadText: "\"\(good)\""),
            signer.sign(headerText: headerText, payloadText: "[]"),
            signer.sign(headerText: "{}", payloadText: payloadText),
            signer.sign(headerText: headerText, payloadText: "{" + payloadText),
        ] + macs.map { "\(macInput).\(Base64URL.encode(Array($0)))" }
    }
}
