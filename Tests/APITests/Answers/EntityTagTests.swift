import HTTPTypes
import Testing

@testable import API

@Suite("An entity tag")
struct EntityTagTests {
    @Test(
        "is known to whoever names it, alone, in a list, in several fields or as a weak one",
        arguments: [
            ["\"7-der\""], ["*"], ["W/\"7-der\""], ["\"6-der\", \"7-der\""], ["\"6-der\"", "\"7-der\" "],
        ])
    func known(_ values: [String]) {
        #expect(EntityTag("7-der").isKnown(to: Self.fields(values)))
    }

    @Test(
        "is not known to whoever names another, or none",
        arguments: [[], [""], ["\"7-pem\""], ["7-der"], ["\"17-der\""], ["\"7-der"], ["W/7-der"], [","], ["W/"]])
    func unknown(_ values: [String]) {
        #expect(!EntityTag("7-der").isKnown(to: Self.fields(values)))
    }

    private static func fields(_ values: [String]) -> HTTPFields {
        var fields = HTTPFields()
        fields[values: .ifNoneMatch] = values
        return fields
    }
}
