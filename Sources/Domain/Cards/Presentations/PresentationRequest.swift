/// What a wallet's answer must answer: the request as it was sent.
package struct PresentationRequest: Sendable, Equatable {
    package let channel: Channel
    /// The nonce in base64url, as the request has it.
    package let nonce: String
    /// The RFC 7638 thumbprint of the key for which the answer is encrypted, 32 bytes.
    package let keyThumbprint: [UInt8]
    /// The credentials of which the wallet presents one.
    package let credentials: [RequestedCredential]
    /// The `state` of the request; `nil` over the Digital Credentials API, whose requests have none.
    package let state: String?

    package init(
        channel: Channel, nonce: String, keyThumbprint: [UInt8], credentials: [RequestedCredential],
        state: String? = nil
    ) {
        self.channel = channel
        self.nonce = nonce
        self.keyThumbprint = keyThumbprint
        self.credentials = credentials
        self.state = state
    }
}

package extension PresentationRequest {
    /// The way to the wallet and back.
    enum Channel: Sendable, Equatable {
        /// The Digital Credentials API with OpenID4VP, called by a page or app of this origin.
        case digitalCredentials(origin: String)
        /// The Digital Credentials API with `org-iso-mdoc` (ISO/IEC 18013-7 Annex C).
        ///
        /// - Parameter encryptionInfo: its base64url text as sent.
        case annexC(origin: String, encryptionInfo: String)
        /// A redirect on the same device.
        ///
        /// - Parameter clientID: with its prefix.
        case redirect(clientID: String, responseURI: String)

        /// The audience of a key binding token (OpenID4VP 1.0 §A.4, §B.3.6). Annex C carries none.
        package var audience: String? {
            switch self {
            case .digitalCredentials(let origin): "origin:\(origin)"
            case .annexC: nil
            case .redirect(let clientID, _): clientID
            }
        }
    }
}

/// One credential of a query: its type and the claims of it that were requested.
package struct RequestedCredential: Sendable, Equatable {
    /// Its id in the query.
    package let id: String
    package let format: Format
    /// The document type of a mobile document, or the `vct` of an SD-JWT VC.
    package let type: String
    /// The paths of the claims. Those of a mobile document have two parts: name space and element.
    package let claims: [[String]]

    package init(id: String, format: Format, type: String, claims: [[String]]) {
        self.id = id
        self.format = format
        self.type = type
        self.claims = claims
    }
}

package extension RequestedCredential {
    /// The raw values are those of OpenID4VP.
    enum Format: String, Sendable, CaseIterable {
        /// A mobile document (ISO/IEC 18013-5).
        case mobileDocument = "mso_mdoc"
        /// An SD-JWT VC (RFC 9901).
        case selectiveDisclosure = "dc+sd-jwt"
    }

    /// Whether two paths are the same bytes.
    static func isSame(_ path: [String], _ other: [String]) -> Bool {
        path.count == other.count && zip(path, other).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

    /// Whether a path was requested.
    func contains(_ path: [String]) -> Bool { claims.contains { Self.isSame($0, path) } }
}
