import Authority
import Cards
import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// A request to a wallet as its app hands it over, once for each protocol.
package struct OpenedPresentation: Sendable {
    package let id: PresentationID
    package let expiresAt: Date
    /// For `openid4vp-v1-signed`: the request as a compact JWS.
    package let requestObject: String
    /// For `org-iso-mdoc`: the request, and what begins its session, in base64url; `nil` if the policy excludes it.
    package let isoDocument: (deviceRequest: String, encryptionInfo: String)?
}

/// The keys for the answers to one request. Each way to a wallet has its own.
struct PresentationKeys: Sendable {
    let openID4VP: ResponseKey
    let isoDocument: ResponseKey

    static func generate() -> PresentationKeys {
        PresentationKeys(openID4VP: .generate(), isoDocument: .generate())
    }

    /// The form that is encrypted.
    var text: String { "\(openID4VP.numberText) \(isoDocument.numberText)" }
}

extension PresentationKeys {
    /// Parses ``text``; `nil` for anything else.
    init?(text: String) {
        let numbers = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard numbers.count == 2, let first = ResponseKey(numberText: numbers[0]),
            let second = ResponseKey(numberText: numbers[1])
        else { return nil }
        self.init(openID4VP: first, isoDocument: second)
    }
}

package extension Service {
    /// Begins a presentation: makes a request with a new nonce and new keys, which only this session may answer.
    ///
    /// - Parameter origin: the page or native app that will call the wallet.
    /// - Throws: `Refusal` `not_found` if wallets are disabled; `malformed_request` for an origin that is not the app's;
    ///   `conflict` for an identity before a phone number is proven; `rate_limited`.
    func openPresentation(
        _ wanted: Presentation.Wanted, origin: String, for session: Session
    ) async throws -> OpenedPresentation {
        let wallet = try requireWallet(.digitalCredentials)
        let query = try query(for: wanted, wallet)
        guard let origin = WalletOrigin(origin), !origin.isReturnAddress else { throw Refusal.originUnregistered }
        let (presentation, keys) = (new(wanted, .digitalCredentials, origin, for: session), PresentationKeys.generate())
        let opened = try Self.requests(presentation, query, keys, wallet)
        try await keepOpen(presentation, keys, origin, for: session)
        return opened
    }

    /// Begins a presentation by a wallet on the same device, which fetches the request by a link.
    ///
    /// - Parameter address: where the wallet returns to the app, with a code for `redeemResponse(_:code:for:)`.
    /// - Returns: also the link that the app opens.
    /// - Throws: as `openPresentation(_:origin:for:)`.
    func openRedirect(
        _ wanted: Presentation.Wanted, returningTo address: String, for session: Session
    ) async throws -> (id: PresentationID, expiresAt: Date, url: String) {
        let wallet = try requireWallet(.sameDevice)
        _ = try query(for: wanted, wallet)
        guard let address = WalletOrigin(address), address.isReturnAddress else {
            throw Refusal.returnAddressUnregistered
        }
        let presentation = new(wanted, .sameDevice, address, for: session)
        let request = Base64URL.encode(environment.randomBytes(Presentation.nonceLength))
        try await keepOpen(
            presentation, PresentationKeys.generate(), address, request: Digest256.of(request), for: session)
        return (
            presentation.id, presentation.expiresAt,
            RequestObject.link(from: wallet.reader, to: urls.walletRequest(request))
        )
    }

    private func new(
        _ wanted: Presentation.Wanted, _ channel: Presentation.Channel, _ origin: WalletOrigin, for session: Session
    ) -> Presentation {
        let now = environment.now()
        return Presentation(
            id: environment.newIdentifier(), userID: session.userID, deviceID: session.deviceID,
            sessionID: session.id, channel: channel, wanted: wanted, state: .open,
            nonce: environment.randomBytes(Presentation.nonceLength), origin: origin.text, reason: nil, attempts: 0,
            createdAt: now, expiresAt: now.addingTimeInterval(policy[\.wallet].lifetime))
    }

    /// Stores a new presentation.
    ///
    /// - Parameter request: the digest of the secret by which a wallet names the request; `nil` unless it is redirected.
    private func keepOpen(
        _ presentation: Presentation, _ keys: PresentationKeys, _ origin: WalletOrigin, request: Digest256? = nil,
        for session: Session
    ) async throws {
        let (policy, personal) = (policy[\.wallet], self.keys.personal)
        let registered = AppOrigin(applicationID: session.applicationID, origin: origin)
        try await act(for: session) { transaction, holder, _ in
            guard try WalletOriginRepository(transaction).contains(registered) else {
                throw origin.isReturnAddress ? Refusal.returnAddressUnregistered : Refusal.originUnregistered
            }
            guard presentation.wanted != .identity || holder.user.assurance >= .phone else {
                throw Refusal.phoneRequired
            }
            let records = PresentationRepository(transaction)
            let open = try records.expiriesOfOpen(of: session.userID)
            if open.count >= Presentation.maximumOpen, let first = open.first {
                throw Refusal.tooMany(
                    "open presentations",
                    retryAfter: max(1, Int(saturating: first.timeIntervalSince(transaction.now).rounded(.up))))
            }
            try RateRepository(transaction).countExactly(
                "presentation \(session.userID)", limit: RateLimit(count: policy.openingsPerHour, per: 3600))
            let dataKey = try DataKeyRepository(transaction, keys: personal).findOrCreate(session.userID)
            try records.insert(
                .init(
                    presentation: presentation,
                    sealedKey: try dataKey.seal(keys.text, in: .presentationKey, of: presentation.id),
                    requestHash: request))
        }
    }

    private static func requests(
        _ presentation: Presentation, _ query: CredentialQuery, _ keys: PresentationKeys, _ wallet: Wallet
    ) throws -> OpenedPresentation {
        let request = RequestObject(for: presentation, query: query, key: keys.openID4VP)
        let asked = WalletQuery.isoDocument(for: presentation.wanted)
        let device =
            try query.credentials.contains(asked)
            ? DocumentRequest(for: presentation, credential: asked, point: keys.isoDocument.point) : nil
        return OpenedPresentation(
            id: presentation.id, expiresAt: presentation.expiresAt,
            requestObject: try request.signed(by: wallet.reader),
            isoDocument: try device.map { (try $0.signed(by: wallet.reader), $0.encryptionInfo) })
    }

    /// A presentation as the session that began it sees it.
    ///
    /// - Throws: `Refusal` `not_found`.
    func readPresentation(
        _ text: String, for session: Session
    ) async throws -> (state: Presentation.State, reason: String?) {
        let now = environment.now()
        return try await read { transaction in
            guard let id = PresentationID(text[...]),
                let found = try PresentationRepository(transaction).find(id, of: session)?.presentation
            else { throw Refusal.unknownPresentation }
            return (found.state(at: now), found.reason)
        }
    }

    /// Deletes a presentation. What an answer has stored stays.
    ///
    /// - Throws: `Refusal` `not_found`.
    func deletePresentation(_ text: String, for session: Session) async throws {
        guard let id = PresentationID(text[...]) else { throw Refusal.unknownPresentation }
        try await act(for: session) { transaction, _, _ in
            guard try PresentationRepository(transaction).delete(id, of: session) else {
                throw Refusal.unknownPresentation
            }
        }
    }
}

extension Service {
    /// What verifies wallets.
    ///
    /// - Throws: `Refusal` `not_found` if the policy does not enable wallets, or not by this channel.
    func requireWallet(_ channel: Presentation.Channel) throws(Refusal) -> Wallet {
        let policy = policy[\.wallet]
        guard policy.enabled, let wallet else { throw Refusal.walletsDisabled }
        guard policy.channels.contains(channel) else { throw Refusal.channelDisabled }
        return wallet
    }

    /// What a wallet is asked for, in the formats that the policy allows.
    ///
    /// - Throws: `Refusal` `not_found` if no such format has it.
    func query(for wanted: Presentation.Wanted, _ wallet: Wallet) throws(Refusal) -> CredentialQuery {
        let formats = policy[\.wallet].formats
        let credentials = WalletQuery.credentials(for: wanted).filter { formats.contains($0.format) }
        guard !credentials.isEmpty else { throw Refusal.formatsDisabled }
        let issuers = credentials.compactMap { credential in
            wallet.trust.keyIdentifiers(for: credential.type).map { (credential.id, $0) }
        }
        return CredentialQuery(credentials, formats: formats, issuers: Dictionary(issuers) { first, _ in first })
    }
}
