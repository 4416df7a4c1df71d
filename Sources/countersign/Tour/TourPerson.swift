import AsyncHTTPClient
import CountersignClient
import Encoding
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import Synchronization

/// A person of the tour: a device with an app on it, and an account at the provider.
struct TourPerson: Sendable {
    /// The app on the device.
    let app: CountersignClient.Countersign
    /// Another process of the app, with separate connections and the same keys and secret.
    let otherApp: CountersignClient.Countersign
    let tour: Tour
    private let name = "tour-" + UUID().uuidString.prefix(8).lowercased()
    private let password = Password()

    /// The user's password at the provider, which changes during the tour.
    private final class Password: Sendable {
        private let text = Mutex(UUID().uuidString)

        var value: String { text.withLock { $0 } }

        func change(to other: String) { text.withLock { $0 = other } }
    }

    /// - Parameter directory: where the device keeps its key and its session.
    init(_ tour: Tour, directory: URL) throws {
        let authority: String
        do {
            authority = try String(contentsOfFile: tour.authority, encoding: .utf8)
        } catch {
            throw CommandFailure("\(tour.authority) cannot be read: --ca names the authority's certificate.")
        }
        guard let publicURL = URL(string: tour.publicURL), let clientURL = URL(string: tour.clientURL) else {
            throw CommandFailure("--public and --client must be URLs.")
        }
        let service = Service(publicURL: publicURL, clientURL: clientURL, pins: [], roots: .pem(authority))
        let address = TourPlace.address(reaching: [tour.publicURL, tour.clientURL, tour.provider])
        let script = tour.script
        func app() -> CountersignClient.Countersign {
            CountersignClient.Countersign(
                service, keys: FileKeys(directory: directory.appending(path: "keys")),
                store: FileStore(file: directory.appending(path: "secret.json")), watch: { script.show($0) },
                localAddress: address)
        }
        (self.tour, self.app, otherApp) = (tour, app(), app())
    }

    func arrive(_ sentence: String) async throws {
        tour.script.expect(sentence, "It connects over mutual TLS")
        try await app.certify()
    }

    /// Registers at the provider, and opens a session.
    func signIn() async throws -> Session {
        let account = ["Username": name, "Password": password.value, "DeviceID": "tour"]
        _ = try await ask("The user registers at the provider", "/register", account)
        _ = try await ask("The user logs in there", "/login", account)
        tour.script.expect("The app takes a nonce", "Countersign opens a session")
        return try await app.signIn { nonce in
            let answer = try await ask(
                "The provider signs an identity token around the nonce", "/identity-token",
                ["Username": name, "Password": password.value, "nonce": nonce.value])
            guard let token = answer["identity_token"]?.text else {
                throw CommandFailure("The provider's answer lacks identity_token.")
            }
            return token
        }
    }

    /// Changes the password at the provider, which reports it to Countersign.
    func changePassword() async throws {
        let other = UUID().uuidString
        _ = try await ask(
            "The password changes; the provider reports it", "/password",
            ["Username": name, "Password": password.value, "NewPassword": other])
        password.change(to: other)
    }

    /// The names of the events about the user that the provider has received by Shared Signals.
    func events() async throws -> [String] {
        let credentials = Data("\(name):\(password.value)".utf8).base64EncodedString()
        let answer = try await ask("/users/\(name)/events", .GET) {
            $0.headers.add(name: "authorization", value: "Basic \(credentials)")
        }
        guard answer.status == .ok, case .array(let events)? = answer.body["events"] else {
            throw CommandFailure("The provider has no events: \(answer.status.code)")
        }
        return events.compactMap(\.text)
    }

    /// Proves a number, with the code from the file of texts.
    func provePhone() async throws {
        let number = TourPlace.phoneNumber()
        tour.script.expect("The user names a phone number", "The code proves the number")
        let earlier = texts.count
        let verification = try await app.phone.start(number)
        let code = try await code(textedTo: number, after: earlier)
        tour.script.show("A text brings the code (here: a line in \(URL(filePath: tour.texts).lastPathComponent))")
        try await app.phone.check(code, of: verification)
    }

    /// Shows a card, which raises the level.
    func showCard() async throws {
        tour.script.expect("The user shows a driver's licence", "The row in authenticatedUsers is filled")
        let shown = try await app.card.submit(.aamva(SpecimenCard()?.barcode ?? ""))
        let assurance = try await app.profile().assurance
        tour.script.show("assurance: \(assurance.rawValue)")
        guard shown.status == "verified", assurance == .barcode else {
            throw CommandFailure("The card did not raise the level: it is \(assurance.rawValue).")
        }
    }

    /// The lines of the file of texts.
    private var texts: [Substring] {
        (try? String(contentsOfFile: tour.texts, encoding: .utf8))?.split(separator: "\n") ?? []
    }

    /// Waits for the text as a person would. The code follows the last `#`. Texts of earlier tours to this number are
    /// skipped.
    private func code(textedTo number: String, after earlier: Int) async throws -> String {
        for _ in 0..<200 {
            for line in texts.dropFirst(earlier).reversed() {
                guard let value = try? StrictJSON.parse(Array(line.utf8)), value["to"]?.text == number,
                    let code = value["text"]?.text?.split(separator: "#").last
                else { continue }
                return String(code)
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw CommandFailure("No text came to \(number) in \(tour.texts): does the service write its texts there?")
    }

    /// Sends one request to the provider as any provider's app does, and shows it on one line.
    private func ask(_ sentence: String, _ path: String, _ fields: [String: String]) async throws -> JSONValue {
        let start = ContinuousClock.now
        let body = try JSONEncoder().encode(fields)
        let (status, answer) = try await ask(path, .POST) {
            $0.headers.add(name: "content-type", value: "application/json")
            $0.body = .bytes(ByteBuffer(bytes: body))
        }
        tour.script.show(sentence, "POST \(path)", "\(status.code)", ContinuousClock.now - start)
        guard (200..<300).contains(status.code) else {
            throw CommandFailure("The provider refused: \(answer["error"]?["message"]?.text ?? "\(status.code)")")
        }
        return answer
    }

    private func ask(
        _ path: String, _ method: HTTPMethod, _ fill: (inout HTTPClientRequest) -> Void
    ) async throws -> (status: HTTPResponseStatus, body: JSONValue) {
        var request = HTTPClientRequest(url: tour.provider + path)
        request.method = method
        fill(&request)
        do {
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
            let bytes = try await response.body.collect(upTo: 65_536)
            return (
                response.status,
                bytes.readableBytes == 0 ? .null : try StrictJSON.parse(Array(bytes.readableBytesView))
            )
        } catch {
            throw CommandFailure("\(tour.provider + path) did not respond: is the sample provider running?")
        }
    }
}

extension CountersignClient.Countersign {
    /// A protected action, as an app makes it.
    func act() async throws {
        _ = try await call(HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/sessions/current"))
    }
}
