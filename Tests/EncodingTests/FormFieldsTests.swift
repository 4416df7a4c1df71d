import Encoding
import Testing

@Suite("The fields of a form")
struct FormFieldsTests {
    private static func parse(_ text: String, most: Int = 4) throws -> [String] {
        try FormFields.parse(text.utf8, most: most).map { "\($0.name)=\($0.value)" }
    }

    @Test("are decoded in order, with repeated and empty ones")
    func decoded() throws {
        #expect(try Self.parse("") == [] && Self.parse("&&") == [])
        #expect(try Self.parse("b=1&a=x+y%20z%2B&b") == ["b=1", "a=x y z+", "b="])
        #expect(try Self.parse("%C3%A4=%e4%bd%a0&=v&a==%3D") == ["ä=你", "=v", "a==="])
    }

    @Test("are refused if they are no percent-encoded UTF-8, too many, or have a long run of combining marks")
    func refused() {
        for text in ["%", "a=%4", "a=%G0", "a=%80", "%FF=1"] {
            #expect(throws: FormFields.Defect.encoding, "\(text)") { try Self.parse(text) }
        }
        #expect(throws: FormFields.Defect.count) { try Self.parse("a&b&c&d&e") }
        let marks = String(repeating: "%CC%81", count: 31)
        #expect(throws: FormFields.Defect.marks) { try Self.parse("a=e\(marks)") }
    }
}
