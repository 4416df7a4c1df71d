import Domain
import Encoding
import Fixtures
import Foundation
import Testing

/// What the service says of itself, held against what it does by a signed-in device and a provider.
@Suite("The description", .serialized)
struct DescriptionTests {
    /// What `description.py` leaves behind.
    private struct SignedIn {
        let directory: String
        let sessionToken: String
        let providerToken: String

        init(_ service: RunningService) async throws {
            directory = service.path("left").path
            try await expectScript("Requests/description.py", service.clientArguments + ["--leave", directory])
            let left = try StrictJSON.parse(try Data(contentsOf: URL(filePath: directory + "/session.json")))
            sessionToken = try #require(left["session_token"]?.text)
            providerToken = try #require(left["provider_token"]?.text)
        }

        var certificate: [String] {
            ["--request-cert", directory + "/certificate.pem", "--request-cert-key", directory + "/key.pem"]
        }
    }

    private func fuzz(
        _ service: RunningService, _ signedIn: SignedIn, _ url: String, paths: String, _ more: [String]
    ) async throws {
        let result = try await Command.run(
            try Command.python("schemathesis"),
            [
                "run", signedIn.directory + "/openapi.json", "--url", url, "--tls-verify",
                service.path("Keys/ca.pem").path, "--checks",
                "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
                "--max-examples", "10", "--phases", "examples,coverage,fuzzing", "--seed", "8446",
                "--include-path-regex", paths,
                // It cannot write a token's media type; events.py judges that path.
                "--exclude-path", "/provider/events",
            ] + more, seconds: 400)
        #expect(result.status == 0, "\(result.output.suffix(4000))\n\(result.errors)")
    }

    /// `METHOD /path` of every route that the sources add to a router, with parameters as the description writes them.
    static func routes() throws -> Set<String> { Set(try costs().keys) }

    /// What a call of each of them costs.
    static func costs() throws -> [String: String] {
        var found: [String: String] = [:]
        for file in try SourceFile.all(below: "Sources/API") where file.name.hasSuffix("Routes.swift") {
            var prefixes = ["router": ""]
            for line in file.text.split(separator: "\n") {
                if let group = line.firstMatch(of: /let (\w+) = router\.group\((?:"([^"]*)")?\)/) {
                    prefixes[String(group.1)] = group.2.map { "/\($0)" } ?? ""
                }
                let call = /^ +(\w+)\.(get|post|put|patch|delete|head|on)\((?:"([^"]*)", )?cost: \.(\w+)/
                guard let route = line.firstMatch(of: call), let prefix = prefixes[String(route.1)] else { continue }
                let path = (route.3 ?? "").split(separator: "/").map { part in
                    part.hasPrefix(":") ? "/{\(part.dropFirst())}" : "/\(part)"
                }
                let whole = prefix + path.joined()
                found["\(route.2.uppercased()) \(whole.isEmpty ? "/" : whole)"] = String(route.4)
            }
        }
        return found
    }

    @Test("holds every route of the sources, and no other")
    func completeness() throws {
        let file = RunningService.root.appending(path: "Sources/API/openapi.json")
        let description = try StrictJSON.parse(try Data(contentsOf: file))
        guard case .object(let paths)? = description["paths"] else {
            Issue.record("there are no paths")
            return
        }
        let described = paths.flatMap { path -> [String] in
            guard case .object(let members) = path.value else { return [] }
            let methods = members.map { $0.name.uppercased() }
            return methods.filter { ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].contains($0) }
                .map { "\($0) \(path.name)" }
        }
        let routes = try Self.routes()
        #expect(routes.subtracting(described).sorted() == [], "not described")
        #expect(Set(described).subtracting(routes).sorted() == [], "described, and not there")
        #expect(routes.count > 40)
        // Routes are added in those files alone.
        for file in try SourceFile.all(below: "Sources/API") where !file.name.hasSuffix("Routes.swift") {
            #expect(!file.text.contains(/router\.(get|post|put|patch|delete|head|on|group)\b/), "\(file.path)")
        }
    }

    @Test("says of each answer what its members are, and every answer of a whole sign-in is as it says")
    func answers() async throws {
        _ = try await SignedIn(try await RunningService())
    }

    @Test("is true of a signed-in device on the client listener: no 5xx, no undocumented status or member")
    func client() async throws {
        let service = try await RunningService()
        let signedIn = try await SignedIn(service)
        let session = ["-H", "Authorization: Layer session-token=\"\(signedIn.sessionToken)\""] + signedIn.certificate
        try await fuzz(
            service, signedIn, service.clientURL,
            paths: "^/(nonces?|sessions.*|phone-verifications.*|identity-cards.*|me(/.*)?|certificates/renewal"
                + "|authorizations.*|blocks.*)$",
            session + ["--exclude-method", "DELETE"])
        // What ends the session comes last.
        try await fuzz(
            service, signedIn, service.clientURL, paths: "^/sessions",
            session + ["--exclude-method", "GET", "--exclude-method", "POST"])
    }

    @Test("is true of an authenticated provider on the public listener")
    func provider() async throws {
        let service = try await RunningService()
        let signedIn = try await SignedIn(service)
        try await fuzz(
            service, signedIn, service.publicURL, paths: "^/(provider.*|introspect|revoke)$",
            ["-H", "Authorization: Bearer \(signedIn.providerToken)"])
    }
}
