import Encoding

/// What the maker of a device attested about a key in it.
package enum DeviceAttestation: Sendable, Equatable {
    /// A key of App Attest in a Secure Enclave. It is another key than the certified one, which it vouched for.
    case appAttest(key: PublicKey, app: AttestedApp, isProduction: Bool)
    /// The certified key itself. The serial numbers are those of the chain, as `AttestedSerial` writes them.
    case androidKey(level: Level, app: AttestedApp, patchLevel: Int, serials: [String])
}

package extension DeviceAttestation {
    /// The forms of attestation, by the names in requests.
    enum Kind: String, Sendable, CaseIterable {
        case appAttest = "app_attest"
        case androidKey = "android_key"
    }

    /// Where the key is, by the names in answers and tokens.
    enum Level: String, Sendable, CaseIterable {
        /// No maker of a device attested anything.
        case unattested = "none"
        case appAttest = "app_attest"
        /// In the trusted environment of the main processor.
        case tee = "android_tee"
        /// In a processor of its own.
        case strongBox = "android_strongbox"
    }

    var kind: Kind {
        switch self {
        case .appAttest: .appAttest
        case .androidKey: .androidKey
        }
    }

    var level: Level {
        switch self {
        case .appAttest: .appAttest
        case .androidKey(let level, _, _, _): level
        }
    }

    /// The name of a key of App Attest: SHA-256 of its point; `nil` for other kinds.
    var keyID: Digest256? {
        guard case .appAttest(let key, _, _) = self, case .p256(let point) = key.numbers else { return nil }
        return Digest256.of(point)
    }

    var app: AttestedApp {
        switch self {
        case .appAttest(_, let app, _), .androidKey(_, let app, _, _): app
        }
    }
}
