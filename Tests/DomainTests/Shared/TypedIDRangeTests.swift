import Domain
import Testing

@Suite("The range of a typed id")
struct TypedIDRangeTests {
    private func range(_ text: String) -> String? {
        TypedID<Kind.User>(text).range.map { "\($0.first) \($0.last)" }
    }

    @Test("spans the ids that begin with the text, in either case")
    func spans() {
        #expect(
            range("0123ABcd") == "0123abcd-0000-0000-0000-000000000000 0123abcd-ffff-ffff-ffff-ffffffffffff")
        #expect(
            range("0123abcd-4") == "0123abcd-4000-0000-0000-000000000000 0123abcd-4fff-ffff-ffff-ffffffffffff")
        let whole = "0123abcd-4567-4000-8000-00000000000a"
        #expect(range(whole) == "\(whole) \(whole)")
    }

    @Test(
        "does not exist for what no id begins with",
        arguments: [
            "", "0123abc", "0123abcg", "0123abcd4", "0123abc-",
            "0123abcd-4567-4000-8000-00000000000a0", "test/ada", "０１２３abcd", "0123abcd\u{301}", "-0123abcd",
        ])
    func none(_ text: String) {
        #expect(range(text) == nil)
    }
}
