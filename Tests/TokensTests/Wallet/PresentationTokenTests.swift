import Domain
import Fixtures
import Testing

@testable import Tokens

@Suite("The answer to a query")
struct PresentationTokenTests {
    private static let request = PresentationRequest(
        channel: .digitalCredentials(origin: "https://app.example"), nonce: "n", keyThumbprint: [],
        credentials: [
            RequestedCredential(id: "av", format: .mobileDocument, type: "eu.europa.ec.av.1", claims: []),
            RequestedCredential(id: "pid", format: .selectiveDisclosure, type: "urn:eudi:pid:1", claims: []),
        ])

    private static func refusal(
        _ json: String, to request: PresentationRequest = request
    ) -> PresentationDefect.Reason? {
        do throws(PresentationDefect) {
            _ = try PresentationToken.all(Array(json.utf8), answering: request)
        } catch { return error.reason }
        return nil
    }

    @Test("names the part of the query that it answers")
    func accepted() throws {
        let tokens = try PresentationToken.all(
            Array(#"{"state":"x","vp_token":{"pid":["a~"],"av":["b"]}}"#.utf8), answering: Self.request)
        #expect(tokens.map(\.presentation) == ["a~", "b"])
        #expect(tokens.map(\.requested) == [Self.request.credentials[1], Self.request.credentials[0]])
    }

    @Test("has the state of its request, or none, but never another one")
    func state() {
        let request = PresentationRequest(
            channel: .redirect(clientID: "x509_hash:abc", responseURI: "https://id.example/1"), nonce: "n",
            keyThumbprint: [], credentials: Self.request.credentials, state: "s-1")
        for (member, reason) in [
            (#""state":"s-1","#, nil), ("", nil), (#""state":"s-2","#, PresentationDefect.Reason.replayed),
            (#""state":"","#, .replayed), (#""state":"S-1","#, .replayed), (#""state":null,"#, .replayed),
            (#""state":["s-1"],"#, .replayed), (#""state":"s-1","state":"s-1","#, .malformed),
        ] {
            #expect(Self.refusal(#"{\#(member)"vp_token":{"pid":["a~"]}}"#, to: request) == reason, "\(member)")
        }
    }

    @Test("is never what the wallet says that it was asked")
    func refused() {
        for (json, reason) in [
            ("", PresentationDefect.Reason.malformed), ("[]", .malformed), ("{}", .malformed),
            (#"{"vp_token":"a~"}"#, .malformed), (#"{"vp_token":["a~"]}"#, .malformed),
            (#"{"vp_token":{"pid":"a~"}}"#, .malformed), (#"{"vp_token":{"pid":[]}}"#, .malformed),
            (#"{"vp_token":{"pid":[{}]}}"#, .malformed), (#"{"vp_token":{"pid":["a"]},"vp_token":{}}"#, .malformed),
            (#"{"error":"access_denied"}"#, .incomplete), (#"{"vp_token":{}}"#, .incomplete),
            (#"{"vp_token":{"mdl":["a"]}}"#, .notAsked), (#"{"vp_token":{"pid":["a","b"]}}"#, .surplus),
            (#"{"vp_token":{"pid":["a"],"other":["b"]}}"#, .notAsked),
        ] {
            #expect(Self.refusal(json) == reason, "\(json)")
        }
    }
}
