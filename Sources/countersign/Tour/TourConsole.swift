import AsyncHTTPClient
import Encoding
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// The administrator of a tour, who uses the pages of the console as a browser does.
struct TourConsole: Sendable {
    private let url: String
    private let configuration: HTTPClient.Configuration

    /// - Parameters:
    ///   - url: the console's listener.
    ///   - administrator: a file with what `countersign admin add --json` printed.
    ///   - authority: the file of the authority's certificate.
    init(url: String, administrator: String, authority: String) throws {
        let made = try StrictJSON.parse(Array(try KeyFile(path: administrator, isPrivate: true).read().utf8))
        guard let file = made["file"]?.text, let password = made["password"]?.text else {
            throw CommandFailure("\(administrator) is not what `countersign admin add --json` printed.")
        }
        let opened = try NIOSSLPKCS12Bundle(file: file, passphrase: Array(password.utf8))
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv13
        tls.trustRoots = .file(authority)
        tls.certificateChain = opened.certificateChain.map { NIOSSLCertificateSource.certificate($0) }
        tls.privateKey = .privateKey(opened.privateKey)
        self.url = url
        configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
    }

    /// Challenges all sessions of a user: opens the page that asks for a confirmation, and submits its form.
    ///
    /// - Returns: the status of the answer.
    func challenge(_ user: UUID) async throws -> String {
        let path = "/users/\(user.uuidString.lowercased())/challenge"
        return try await HTTPClient.withHTTPClient(configuration: configuration) { http in
            var opening = HTTPClientRequest(url: url + path)
            opening.headers.add(name: "sec-fetch-site", value: "none")
            let page = try await http.execute(opening, timeout: .seconds(30))
            let text = String(buffer: try await page.body.collect(upTo: 262_144))
            guard page.status == .ok else { throw CommandFailure("The console refused \(path): \(page.status.code).") }
            var fields = URLComponents()
            fields.queryItems =
                text.matches(of: /<input type="hidden" name="([a-z_]+)" value="([^"]*)">/).map {
                    URLQueryItem(name: String($0.1), value: String($0.2))
                } + [URLQueryItem(name: "reason", value: "ticket:tour")]
            var submission = HTTPClientRequest(url: url + path)
            submission.method = .POST
            submission.headers.add(name: "sec-fetch-site", value: "same-origin")
            submission.headers.add(name: "origin", value: url)
            submission.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
            submission.body = .bytes(ByteBuffer(string: fields.percentEncodedQuery ?? ""))
            let answer = try await http.execute(submission, timeout: .seconds(30))
            _ = try await answer.body.collect(upTo: 262_144)
            guard answer.status == .seeOther else {
                throw CommandFailure("The console refused the form of \(path): \(answer.status.code).")
            }
            return "\(answer.status.code)"
        }
    }
}
