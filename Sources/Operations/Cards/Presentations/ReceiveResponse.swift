import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// The side of a wallet on the same device. It has no session: a caller who knows the secret of a request may fetch and
/// answer it, and only the session that began it gets the result.
package extension Service {
    /// The request that a wallet fetches, signed, as often as it is asked for until an answer or the expiry.
    ///
    /// - Parameters:
    ///   - request: the secret of the request.
    ///   - walletNonce: a nonce of the wallet, which is signed with it.
    /// - Throws: `Refusal` `not_found`; `malformed_request` for a long nonce.
    func readRequestObject(_ request: String, walletNonce: String?) async throws -> String {
        let wallet = try requireWallet(.sameDevice)
        guard walletNonce?.utf8.count ?? 0 <= 512 else { throw Refusal.walletNonceTooLong }
        let (presentation, keys) = try await read {
            [personal = keys.personal, sessions = policy[\.sessions]] transaction in
            guard let entry = try PresentationRepository(transaction).find(request: Digest256.of(request)),
                entry.presentation.state(at: transaction.now) == .open,
                try entry.presentation.hasReceiver(sessions, in: transaction),
                let keys = try PresentationKeys.open(entry, keys: personal, in: transaction)
            else { throw Refusal.unknownWalletRequest }
            return (entry.presentation, keys)
        }
        return try RequestObject(
            for: presentation, query: query(for: presentation.wanted, wallet), key: keys.openID4VP, state: request,
            answeredAt: urls.walletResponse(request), walletNonce: walletNonce
        ).signed(by: wallet.reader)
    }

    /// Verifies the answer of a wallet at its arrival, and keeps it until the app redeems it.
    ///
    /// Each answer is counted before it is read. The first answer with a credential ends the request. If a wallet sends that
    /// answer again because the response was lost, it gets the same response. After the end of the session that began the
    /// request, or a ban, nobody could redeem an answer, so the request is unknown.
    ///
    /// - Parameter request: the secret of the request.
    /// - Returns: where the wallet sends its user: the app's address with the code that redeems the answer.
    /// - Throws: `Refusal` `not_found`; `conflict` after another answer or too late; `presentation_rejected` with the
    ///   reason; `rate_limited`.
    func receiveResponse(_ response: String, to request: String) async throws -> String {
        let wallet = try requireWallet(.sameDevice)
        let (secret, digest) = (Digest256.of(request), Digest256.of(response))
        let (presentation, keys): (Presentation, PresentationKeys)
        switch try await countResponse(secret, digest) {
        case .known(let link): return link
        case .counted(let found): (presentation, keys) = found
        }
        let key = keys.openID4VP
        let sent = PresentationRequest(
            channel: .redirect(clientID: wallet.reader.clientID, responseURI: urls.walletResponse(request)),
            nonce: presentation.nonceText, keyThumbprint: key.thumbprint,
            credentials: try query(for: presentation.wanted, wallet).credentials, state: request)
        let result: PresentationResult
        do throws(PresentationDefect) {
            result = try await verify(.encrypted(response, key), to: sent, of: presentation, by: wallet)
        } catch {
            let refusal = Refusal.presentationRejected(error)
            if !error.leavesOpen { try await refuseResponse(presentation, error.reason.rawValue) }
            throw refusal
        }
        let received = ReceivedAnswer(
            digest: digest, code: Base64URL.encode(environment.randomBytes(Presentation.nonceLength)), result: result)
        guard try await keepResponse(received, of: presentation) else {
            // Another answer was faster, or the same one.
            guard case .known(let link) = try await countResponse(secret, digest) else {
                throw Refusal.presentationAnswered
            }
            return link
        }
        return presentation.returnLink(received.code)
    }

    /// Counts an answer to a known request. An answer that changes nothing takes no turn of the writers: anybody can send
    /// answers to unknown or ended requests.
    private func countResponse(_ request: Digest256, _ digest: Digest256) async throws -> Arrival {
        let (personal, sessions) = (keys.personal, policy[\.sessions])
        let known = try await read { transaction in
            try Self.known(digest, to: request, keys: personal, sessions, in: transaction)
        }
        if let known { return .known(known) }
        return try await write { transaction, _ in
            if let link = try Self.known(digest, to: request, keys: personal, sessions, in: transaction) {
                return .known(link)
            }
            guard let entry = try PresentationRepository(transaction).countAttempt(request: request) else {
                throw Refusal.unknownWalletRequest
            }
            try entry.presentation.requireAnswerable(at: transaction.now, isCounted: true)
            guard let keys = try PresentationKeys.open(entry, keys: personal, in: transaction) else {
                throw Refusal.unknownWalletRequest
            }
            return .counted((entry.presentation, keys))
        }
    }

    /// Where the wallet sends its user, if this answer has arrived before; `nil` if the request waits for an answer.
    ///
    /// - Throws: `Refusal` `not_found`; `conflict` after another answer or too late; `rate_limited` after too many.
    private static func known(
        _ digest: Digest256, to request: Digest256, keys: PersonalKeys, _ sessions: SessionPolicy,
        in transaction: any Transaction
    ) throws -> String? {
        guard let entry = try PresentationRepository(transaction).find(request: request),
            try entry.presentation.hasReceiver(sessions, in: transaction)
        else { throw Refusal.unknownWalletRequest }
        if entry.presentation.state(at: transaction.now) == .received,
            let received = try ReceivedAnswer.open(entry, keys: keys, in: transaction), received.digest == digest
        {
            return entry.presentation.returnLink(received.code)
        }
        try entry.presentation.requireAnswerable(at: transaction.now, isCounted: false)
        return nil
    }

    private func keepResponse(_ received: ReceivedAnswer, of presentation: Presentation) async throws -> Bool {
        try await write { [personal = keys.personal, sessions = policy[\.sessions]] transaction, _ in
            let dataKeys = DataKeyRepository(transaction, keys: personal)
            // The session may have ended while the answer was verified.
            guard let key = try dataKeys.find(presentation.userID),
                try presentation.hasReceiver(sessions, in: transaction)
            else { throw Refusal.unknownWalletRequest }
            return try PresentationRepository(transaction).receive(
                presentation.id, sealedResult: key.seal(received.text, in: .presentationResult, of: presentation.id),
                code: Digest256.of(received.code), until: transaction.now + Presentation.redemptionTime)
        }
    }

    /// Ends a request whose answer is refused. The user may begin another one.
    private func refuseResponse(_ presentation: Presentation, _ reason: String) async throws {
        try await write { transaction, events in
            guard try PresentationRepository(transaction).refuse(presentation.id, reason: reason) else {
                throw Refusal.presentationAnswered
            }
            events.record(
                .presentationRefused(presentation.userID, reason: reason), by: "device \(presentation.deviceID)")
        }
    }
}

/// What the arrival of an answer means for its request.
private enum Arrival {
    /// This answer has arrived before. The value is where the wallet sends its user.
    case known(String)
    case counted((Presentation, PresentationKeys))
}

extension ReceivedAnswer {
    /// Opens the answer that waits for its app; `nil` in any other state, or if the user was erased.
    static func open(
        _ entry: PresentationRepository.Entry, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> ReceivedAnswer? {
        try entry.open(entry.sealedResult, in: .presentationResult, keys: keys, transaction)
            .flatMap { ReceivedAnswer(text: $0) }
    }
}

extension Presentation {
    /// Where a wallet sends its user after an answer. The code is in the fragment, which no server gets.
    fileprivate func returnLink(_ code: String) -> String { "\(origin)#response_code=\(code)" }

    /// Whether the session that began this can still redeem an answer: it has not ended, and neither its user nor its
    /// device is banned. A challenged session can, after its renewal.
    fileprivate func hasReceiver(_ policy: SessionPolicy, in transaction: any Transaction) throws -> Bool {
        guard let session = try SessionRepository(transaction).find(sessionID) else { return false }
        let state = session.effectiveState(at: transaction.now, policy: policy).machineState
        guard state != .unauthenticated, try RefuseBanned.activeBan(on: userID, in: transaction) == nil else {
            return false
        }
        let entries = try BanRepository(transaction).entries(on: [.device(deviceID)])
        return BanEntry.activeBan(among: entries, for: .all, at: transaction.now) == nil
    }
}
