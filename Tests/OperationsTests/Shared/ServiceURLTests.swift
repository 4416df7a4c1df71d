import Operations
import Testing

@Suite("The URLs of the service")
struct ServiceURLTests {
    @Test("have a document about them between host and path")
    func wellKnown() {
        for (url, place) in [
            ("https://a.example", "https://a.example/.well-known/x"),
            ("https://a.example:8440", "https://a.example:8440/.well-known/x"),
            ("https://a.example/one/two", "https://a.example/.well-known/x/one/two"),
        ] {
            #expect(ServiceURLs.wellKnown("x", of: url) == place)
        }
        #expect(ServiceURLs.wellKnownPath("x", of: "https://a.example/one") == "/.well-known/x/one")
    }
}
