import CountersignClient
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// What the operator gives you. Without variables it is what `make run` has, whose directory is beside this one.
let variables = ProcessInfo.processInfo.environment
let checkout = URL(filePath: variables["CHECKOUT"] ?? "../countersign")
let authority = try String(contentsOf: checkout.appending(path: "Keys/ca.pem"), encoding: .utf8)
let registration = try Data(contentsOf: checkout.appending(path: ".run/provider.json"))
guard let publicURL = URL(string: variables["PUBLIC"] ?? "https://127.0.0.1:8440"),
    let clientURL = URL(string: variables["CLIENT"] ?? "https://127.0.0.1:8441"),
    let backendURL = URL(string: variables["BACKEND"] ?? "http://127.0.0.1:8450")
else { fatalError("PUBLIC, CLIENT and BACKEND must be URLs.") }

/// The app's own backend, here the sample provider. It knows this user by a password.
struct Backend: Sendable {
    let url: URL
    let user = ["Username": "ada-\(UInt32.random(in: 0 ... .max))", "Password": "correct horse", "DeviceID": "first"]

    func register() async throws { _ = try await post("register", user) }

    func identityToken(nonce: String) async throws -> String {
        let answer = try await post("identity-token", user.merging(["nonce": nonce]) { $1 })
        return answer["identity_token"] ?? ""
    }

    private func post(_ path: String, _ members: [String: String]) async throws -> [String: String] {
        var request = URLRequest(url: url.appending(path: path))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(members)
        let (answer, _) = try await URLSession.shared.data(for: request)
        return try JSONDecoder().decode([String: String].self, from: answer)
    }
}

let backend = Backend(url: backendURL)
try await backend.register()

let folder = URL(filePath: "device")
let keys = FileKeys(directory: folder.appending(path: "keys"))
let store = FileStore(file: folder.appending(path: "secret.json"))
let presenceKeys = FileKeys(directory: folder.appending(path: "presence"))

let service = Service(publicURL: publicURL, clientURL: clientURL, pins: [], roots: .pem(authority))
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

let verification = try await client.phone.start("+12025550100")
print("Type the code of \(verification.digits) digits:")
let code = readLine() ?? ""
try await client.phone.check(code, of: verification)

let barcode = try String(contentsOfFile: "card.txt", encoding: .utf8)
let result = try await client.card.submit(.aamva(barcode))
let profile = try await client.profile()
print("The card is \(result.status), the level is \(profile.assurance.rawValue).")

/// The provider as `countersign provider add --json` printed it.
struct Registration: Decodable {
    let id: String
    enum CodingKeys: String, CodingKey { case id = "provider_id" }
}

let provider = try JSONDecoder().decode(Registration.self, from: registration)
let token = try await client.accessToken(for: provider.id)
var request = URLRequest(url: backendURL.appending(path: "cart"))
for (name, value) in try await token.headers(for: "GET", backendURL.appending(path: "cart")) {
    request.setValue(value, forHTTPHeaderField: name)
}
print("A request to the backend has \(request.allHTTPHeaderFields?.count ?? 0) headers that prove the session.")

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
