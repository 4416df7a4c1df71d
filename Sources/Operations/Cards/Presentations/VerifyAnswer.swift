import Cards
import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

extension Service {
    /// Verifies the answer of a wallet to a request, and fetches the issuer's status list if one is needed.
    ///
    /// - Throws: the first defect.
    func verify(
        _ answer: PresentationVerifier.Answer, to request: PresentationRequest, of presentation: Presentation,
        by wallet: Wallet
    ) async throws(PresentationDefect) -> PresentationResult {
        let (policy, now) = (policy[\.wallet], environment.now())
        let age = presentation.wanted.age
        let verified: PresentationVerifier.Verified
        var isStatusUnknown = false
        do throws(PresentationDefect) {
            verified = try await PresentationVerifier(trust: wallet.trust, status: policy.status, lists: []).verify(
                answer, to: request, now: now, fetching: wallet.lists)
        } catch {
            guard error.reason == .statusUnknown, age == nil, policy.statusUnknown == .review else { throw error }
            // Everything else must be right before a reviewer sees it.
            verified = try PresentationVerifier(trust: wallet.trust, status: .off, lists: []).verify(
                answer, to: request, now: now)
            isStatusUnknown = true
        }
        guard let age else { return .identity(verified.identity, isStatusUnknown: isStatusUnknown) }
        return .age(isReached: verified.isAtLeast(age), credential: countedCredential(verified, policy, at: now))
    }

    /// A digest of the credential by a key that changes each week, so it links no uses of different weeks. Without that
    /// key it cannot be compared with a known credential.
    private func countedCredential(
        _ verified: PresentationVerifier.Verified, _ policy: WalletPolicy, at moment: Date
    ) -> Digest256? {
        guard policy.ageProofsPerCredential > 0, case .document(let document) = verified else { return nil }
        let week = Int64(saturating: (moment.timeIntervalSince1970 / WalletPolicy.ageProofPeriod).rounded(.down))
        return keys.personal.blindIndex("\(week) \(Base64URL.encode(document.holderKey))", .ageCredential)
    }
}

extension PresentationKeys {
    /// Opens the keys of a presentation; `nil` after an answer, or if the user was erased.
    static func open(
        _ entry: PresentationRepository.Entry, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> PresentationKeys? {
        try entry.open(entry.sealedKey, in: .presentationKey, keys: keys, transaction)
            .flatMap { PresentationKeys(text: $0) }
    }
}

extension PresentationRepository.Entry {
    /// Opens a sealed part of a presentation; `nil` if it is not there, or if the user was erased.
    func open(
        _ sealed: [UInt8]?, in column: SealedColumn, keys: PersonalKeys, _ transaction: any Transaction
    ) throws -> String? {
        guard let sealed, let key = try DataKeyRepository(transaction, keys: keys).find(presentation.userID) else {
            return nil
        }
        return try key.open(sealed, in: column, of: presentation.id)
    }
}

extension PresentationVerifier.Verified {
    var identity: PresentedIdentity {
        switch self {
        case .document(let document): document.identity
        case .credential(let credential): credential.identity
        }
    }

    /// Whether the holder is at least this old. A rule has required the statement.
    fileprivate func isAtLeast(_ age: Int) -> Bool {
        switch self {
        case .document(let document): document.isAtLeast(age) ?? false
        case .credential: false
        }
    }
}
