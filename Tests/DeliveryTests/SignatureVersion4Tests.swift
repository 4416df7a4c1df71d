import Domain
import Encoding
import Foundation
import Testing

@testable import Delivery

@Suite("Signature Version 4")
struct SignatureVersion4Tests {
    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    /// A random request, what signs it, and the same for the judge.
    private struct Case {
        let request: SignatureVersion4.Request
        let signature: SignatureVersion4
        let credentials: AmazonCredentials
        let date: Date
        let line: String

        init(_ random: inout SplitMix64) throws {
            let method = ["POST", "GET", "PUT", "DELETE"].randomElement(using: &random) ?? "POST"
            let segments = ["a", "..", ".", "", "%2Fb", "c%20d", "~e", "f+g", "(h)", "%C3%A9", "i;j=k", "L_-."]
            var path = ""
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                path += "/" + (segments.randomElement(using: &random) ?? "")
            }
            let names = ["b", "a", "a-b", "A", "", "%C3%A9", "b~", "X.y"]
            var pairs: [String] = []
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let pair = names.randomElement(using: &random) ?? ""
                pairs.append(Bool.random(using: &random) ? pair : pair + "=" + random.text(letters + "-_.~%=", 0...8))
            }
            let query = pairs.joined(separator: "&")
            let host = "\(random.text("abcxyz", 1...8)).example" + (Bool.random(using: &random) ? ":8443" : "")
            var headers: [SignatureVersion4.Field] = [(name: "Host", value: host)]
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let name = ["Content-Type", "X-Amz-Meta", "x-amz-meta", "X-B", "x-a-c", "X-A"]
                    .randomElement(using: &random)
                headers.append((name: name ?? "X", value: random.text(letters + "   \t,;=/\"", 0...24)))
            }
            let body = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let region = ["us-east-1", "eu-central-2", "cn-north-1"].randomElement(using: &random) ?? ""
            let service = ["sns", "iam", "execute-api"].randomElement(using: &random) ?? ""
            let secret = random.text(letters + "/+", 20...60)
            let token = Bool.random(using: &random) ? random.text(letters + "/+=", 1...400) : nil
            let key = random.text(letters, 16...20)
            date = Date(timeIntervalSince1970: Double.random(in: 946_684_800...4_102_444_800, using: &random))
            request = .init(method: method, path: path, query: query, headers: headers, body: body)
            signature = SignatureVersion4(region: region, service: service)
            credentials = try #require(
                AmazonCredentials(accessKeyID: key, secretAccessKey: secret, sessionToken: token))
            let fields: [(String, JSONValue)] = [
                ("method", .string(method)),
                ("url", .string("https://\(host)\(path)" + (query.isEmpty ? "" : "?\(query)"))),
                ("headers", .array(headers.map { .array([.string($0.name), .string($0.value)]) })),
                ("body", .string(Data(body).base64EncodedString())), ("region", .string(region)),
                ("service", .string(service)), ("access_key", .string(key)), ("secret_key", .string(secret)),
                ("token", token.map { .string($0) } ?? .null),
                ("time", .string(date.rfc3339.filter { $0 != "-" && $0 != ":" })),
            ]
            line = JSONValue.object(fields.map { JSONMember(name: $0.0, value: $0.1) }).jsonText
        }
    }

    @Test("600 random requests are signed as botocore signs them, field for field", arguments: [1, 2] as [UInt64])
    func botocore(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        var cases: [Case] = []
        for _ in 0..<300 { cases.append(try Case(&random)) }
        let judgements = try await judge("Phone/sign_requests.py", cases.map(\.line))
        try #require(judgements.count == cases.count)
        for (one, judgement) in zip(cases, judgements) {
            let ours = one.signature.headers(signing: one.request, with: one.credentials, at: one.date)
            guard case .object(let members) = try StrictJSON.parse(judgement.utf8) else { return }
            #expect(members.map(\.name).sorted() == ours.map(\.name).sorted(), "\(one.line)")
            for member in members {
                #expect(ours.first { $0.name == member.name }?.value == member.value.text, "\(one.line)")
            }
        }
    }

    @Test("Every part of a request and every part of the credentials bears on the signature")
    func binding() throws {
        func sign(
            _ method: String = "POST", _ path: String = "/", _ query: String = "", _ host: String = "a.example",
            _ body: String = "b", key: String = "k", secret: String = "s", token: String? = nil, region: String = "r",
            service: String = "v", time: Double = 0
        ) throws -> String {
            let credentials = try #require(
                AmazonCredentials(accessKeyID: key, secretAccessKey: secret, sessionToken: token))
            let fields = SignatureVersion4(region: region, service: service).headers(
                signing: .init(
                    method: method, path: path, query: query, headers: [("Host", host)], body: Array(body.utf8)),
                with: credentials, at: Date(timeIntervalSince1970: time))
            let authorization = try #require(fields.first { $0.name == "Authorization" }?.value)
            return String(authorization.suffix(64))
        }
        let signatures = [
            try sign(), try sign("PUT"), try sign("POST", "/a"), try sign("POST", "/", "a"),
            try sign("POST", "/", "", "b.example"), try sign("POST", "/", "", "a.example", "c"),
            try sign(secret: "t"), try sign(token: "t"), try sign(region: "q"), try sign(service: "w"),
            try sign(time: 1), try sign(time: 86_400),
        ]
        #expect(Set(signatures).count == signatures.count)
        // The key's name is no part of what is signed: the service finds the secret by it.
        #expect(try sign(key: "l") == signatures[0])
    }

    @Test("Credentials come from a shared file or the environment, and print as nothing")
    func credentials() throws {
        let text = """
            # of the operator
            [other]
            aws_access_key_id = OTHER
            [default]
            aws_access_key_id=KEY
            aws_secret_access_key = the/secret+
            aws_session_token =
            region = us-east-1
            """
        let credentials = try AmazonCredentials(sharedFile: text, place: "aws.credentials")
        #expect(credentials.accessKeyID == "KEY")
        #expect(!"\(credentials)".contains("the/secret+"))
        var dumped = ""
        dump(credentials, to: &dumped)
        #expect(!dumped.contains("the/secret+"))
        #expect(
            try AmazonCredentials(environment: ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "B"]).accessKeyID
                == "A")
        for wrong in [
            "", "[default]", "aws_access_key_id=A\naws_secret_access_key=B", "[default]\naws_access_key_id=A",
        ] {
            #expect(throws: DeliveryError.self) { try AmazonCredentials(sharedFile: wrong, place: "f") }
        }
        for wrong in [[:], ["AWS_ACCESS_KEY_ID": "A"], ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "B C"]] {
            #expect(throws: DeliveryError.self) { try AmazonCredentials(environment: wrong) }
        }
    }
}
