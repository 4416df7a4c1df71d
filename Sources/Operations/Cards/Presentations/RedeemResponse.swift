import Database
import Domain
import Encoding
import Foundation
import Repositories

package extension Service {
    /// Stores what a wallet's answer by redirect proves: a card, or one bit for an age.
    ///
    /// Only the session and the device that began the presentation may redeem it, with the code that its wallet handed
    /// to the app, once. A code that is shown for another presentation, or by another session, discards its answer.
    ///
    /// - Throws: `Refusal` `not_found` for another code; `conflict` if it was redeemed or is too late; for an identity also
    ///   `card_rejected`, and `user_banned` for a banned document.
    func redeemResponse(
        _ text: String, code: String, for session: Session
    ) async throws -> PresentationOutcome {
        _ = try requireWallet(.sameDevice)
        guard let id = PresentationID(text[...]) else { throw Refusal.unknownPresentation }
        let codeHash = Digest256.of(code)
        let found = try await act(for: session) { [personal = keys.personal] transaction, _, _ in
            let records = PresentationRepository(transaction)
            let isDiscarded = try records.discard(code: codeHash, unlessOf: id, of: session)
            // What was discarded stays so: nothing is thrown here.
            guard !isDiscarded, let entry = try records.find(id, of: session) else {
                return nil as (PresentationRepository.Entry, ReceivedAnswer?)?
            }
            return (entry, try ReceivedAnswer.open(entry, keys: personal, in: transaction))
        }
        guard let (entry, received) = found else { throw Refusal.unknownPresentation }
        let presentation = entry.presentation
        guard presentation.channel == .sameDevice else { throw Refusal.otherChannel }
        guard presentation.state != .open else { throw Refusal.unknownResponseCode }
        try presentation.require(.received, at: environment.now())
        guard let received, entry.codeHash == codeHash else { throw Refusal.unknownResponseCode }
        return try await accept(received.result, of: presentation, for: session)
    }
}
