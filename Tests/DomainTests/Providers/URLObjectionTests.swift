import Encoding
import Testing

@testable import Domain

@Suite("A refused URL of a provider")
struct URLObjectionTests {
    @Test(
        "has the rule that it breaks, and a host in other letters has the form of DNS",
        arguments: [
            ("https://münchen.example/e", "https://xn--mnchen-3ya.example/e"),
            ("http://a.example/", "must begin with https://"),
            ("HTTPS://a.example/", "must begin with https://"), ("https://a:b@a.example/", "user info"),
            ("https://a.example/#x", "fragment"), ("https://a.example/a b", "blank"),
            ("https://host/", "without a dot"),
            ("https://localhost/", "this machine"), ("https://10.0.0.1/", "not public"),
            ("https://a.example:0/", "malformed"), ("https://-a.example/", "malformed"),
            ("", "must begin with https://"),
            ("https://a.example/" + String(repeating: "a", count: 1024), "1,024 bytes"),
        ])
    func objections(text: String, says: String) {
        #expect(PublicURL(text, allowingLoopback: false) == nil)
        let refusal = Refusal.notPublicURL(text, .webhookURL)
        #expect(refusal.detail.contains(says), "\(refusal.detail)")
    }
}
