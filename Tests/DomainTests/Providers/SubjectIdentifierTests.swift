import Domain
import Encoding
import Testing

@Suite("Subjects of security events")
struct SubjectIdentifierTests {
    private func parsed(_ text: String) throws -> SubjectIdentifier? {
        SubjectIdentifier(try StrictJSON.parse(Array(text.utf8)))
    }

    @Test(
        "are read in every format of RFC 9493, and name a user alone in some",
        arguments: [
            (#"{"format":"iss_sub","iss":"https://a","sub":"b"}"#, .user(issuer: "https://a", subject: "b")),
            (#"{"format":"email","email":"a@b.example"}"#, .email("a@b.example")),
            (#"{"format":"opaque","id":"x"}"#, .other), (#"{"format":"account","uri":"acct:a@b"}"#, .other),
            (#"{"format":"phone_number","phone_number":"+12025550123"}"#, .other),
            (#"{"format":"did","url":"did:example:1"}"#, .other), (#"{"format":"uri","uri":"urn:x"}"#, .other),
            (#"{"format":"jwt_id","iss":"a","jti":"b"}"#, .other),
            (#"{"format":"saml_assertion_id","issuer":"a","assertion_id":"b"}"#, .other),
            (#"{"format":"ip-addresses","ip-addresses":["192.0.2.1"]}"#, .other),
            (#"{"format":"complex","user":{"format":"email","email":"a"}}"#, .email("a")),
            (
                #"{"format":"complex","user":{"format":"email","email":"a"},"session":{"format":"opaque","id":"s"}}"#,
                .other
            ),
            (
                #"{"format":"aliases","identifiers":[{"format":"opaque","id":"s"},{"format":"email","email":"a"}]}"#,
                .email("a")
            ),
        ] as [(String, SubjectIdentifier)])
    func formats(_ text: String, _ subject: SubjectIdentifier) throws {
        #expect(try parsed(text) == subject)
    }

    @Test(
        "with a member too many, too few, empty or nested are refused",
        arguments: [
            "1", "{}", #"{"format":"x","id":"a"}"#, #"{"format":"email"}"#, #"{"format":"email","email":""}"#,
            #"{"format":"email","email":1}"#, #"{"format":"email","email":"a\u0000"}"#,
            #"{"format":"email","email":"a","iss":"b"}"#, #"{"format":"iss_sub","iss":"a"}"#,
            #"{"format":"complex"}"#, #"{"format":"complex","person":{"format":"email","email":"a"}}"#,
            #"{"format":"complex","user":{"format":"email"}}"#,
            #"{"format":"complex","user":{"format":"complex","user":{"format":"email","email":"a"}}}"#,
            #"{"format":"aliases","identifiers":[]}"#,
            #"{"format":"aliases","identifiers":[{"format":"aliases","identifiers":[{"format":"email","email":"a"}]}]}"#,
            #"{"format":"ip-addresses","ip-addresses":[]}"#,
        ])
    func malformed(_ text: String) throws {
        #expect(try parsed(text) == nil)
    }
}
