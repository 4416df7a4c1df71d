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
        let verifier = PresentationVerifier(trust: wallet.trust, status: policy[\.wallet].status, lists: [])
        let verified = try await verifier.verify(answer, to: request, now: environment.now()) {
            await wallet.statusList($0)
        }
        guard let age = presentation.wanted.age else { return .identity(verified.identity) }
        return .age(isReached: verified.isAtLeast(age))
    }
}

extension PresentationKeys {
    /// Opens the keys of a presentation; `nil` after an answer, or if the user was erased.
    static func open(
        _ entry: PresentationRepository.Entry, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> PresentationKeys? {
        guard let sealed = entry.sealedKey,
            let key = try DataKeyRepository(transaction, keys: keys).find(entry.presentation.userID)
        else { return nil }
        return PresentationKeys(text: try key.open(sealed, in: .presentationKey, of: entry.presentation.id))
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
