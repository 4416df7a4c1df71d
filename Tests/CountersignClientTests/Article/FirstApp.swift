import CountersignClient
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The app of the article, block by block, with what stands around the blocks in an app.
struct FirstApp {
    /// The app's own backend.
    struct Backend: Sendable {
        let identityToken: @Sendable (_ nonce: String) async throws -> String
        func identityToken(nonce: String) async throws -> String { try await identityToken(nonce) }
    }

    /// Who holds the device.
    struct User: Sendable {
        let readCode: @Sendable () async throws -> String
        func types(_ digits: Int) async throws -> String { try await readCode() }
    }

    let publicURL, clientURL: URL
    let pins: [SPKIPin]
    let authority: String
    let keys, presenceKeys: FileKeys
    let store: FileStore
    let backend: Backend
    let user: User
    let phoneNumber, barcode, providerID: String

    /// What the app printed, and the request to its backend.
    func run() async throws -> ([String], URLRequest) {
        var lines: [String] = []
        func print(_ line: String) { lines.append(line) }

        let service = Service(publicURL: publicURL, clientURL: clientURL, pins: pins, roots: .pem(authority))
        let presence = Presence(keys: presenceKeys, method: "touch_id")
        let client = Countersign(service, keys: keys, store: store, presence: presence)

        let device = try await client.certify()
        print("This device is \(device.id).")

        let session = try await client.signIn { nonce in
            try await backend.identityToken(nonce: nonce.value)
        }
        print("Signed in as \(session.address).")

        let resumed = try await client.resume()
        print("Still \(resumed.address).")

        let verification = try await client.phone.start(phoneNumber)
        let code = try await user.types(verification.digits)
        try await client.phone.check(code, of: verification)

        let result = try await client.card.submit(.aamva(barcode))
        let profile = try await client.profile()
        print("The card is \(result.status), the level is \(profile.assurance.rawValue).")

        guard let cart = URL(string: "https://shop.example/cart") else { throw CocoaError(.coderInvalidValue) }
        var request = URLRequest(url: cart)
        let token = try await client.accessToken(for: providerID)
        for (name, value) in try await token.headers(for: "GET", cart) {
            request.setValue(value, forHTTPHeaderField: name)
        }

        do {
            try await client.signIn { _ in throw CancellationError() }
        } catch .provider(let error) {
            print("The backend gave no token: \(error)")
        } catch .refused(.service(let problem)) where problem.code == .userBanned {
            print("Banned: \(problem.reason ?? "no reason").")
        } catch {
            print("Not signed in: \(error)")
        }

        try await client.signOut()
        return (lines, request)
    }
}
