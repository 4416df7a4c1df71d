import CountersignClient
import Foundation

/// The app of the article on wallets, block by block.
struct WalletsApp {
    let client: Countersign
    let callWallet: @Sendable ([WalletRequest]) async throws -> WalletResponse

    /// Returns what the app printed.
    func run() async throws -> [String] {
        var lines: [String] = []
        func print(_ line: String) { lines.append(line) }

        let origin = "https://app.example"
        let age = try await client.card.present(.over18, origin: origin) { requests in
            try await callWallet(requests)
        }
        if case .age(let isReached) = age { print(isReached ? "The user is an adult." : "The user is younger.") }

        do {
            let result = try await client.card.present(.identity, origin: origin) { requests in
                try await callWallet(requests)
            }
            if case .card(let card) = result {
                print("The card is \(card.status), the level is \(card.assurance.rawValue).")
            }
        } catch Refusal.service(let problem) where problem.code == .presentationRejected {
            print("The answer is refused: \(problem.reason ?? problem.detail)")
        } catch Refusal.service(let problem) where problem.code == .cardRejected {
            print("The document is refused: \(problem.detail)")
        } catch {
            print("Nothing was presented: \(error)")
        }
        return lines
    }
}
