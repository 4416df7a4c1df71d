import PhoneNumbers
import Testing

@Suite("The line behind a number")
struct PhoneLineTests {
    @Test(
        "is one for the spellings of one line",
        arguments: [
            // Argentina: the 9 of calls to mobiles.
            ("+5491123456789", "+541123456789"), ("+541123456789", "+541123456789"),
            ("+5492234567890", "+542234567890"),
            // Mexico: the 1 of calls to mobiles.
            ("+5215512345678", "+525512345678"), ("+525512345678", "+525512345678"),
            // Brazil: the ninth digit of mobiles.
            ("+551161234567", "+5511961234567"), ("+5511961234567", "+5511961234567"),
            ("+559991234567", "+5599991234567"),
            // Benin: 01 before all.
            ("+22997123456", "+2290197123456"), ("+2290197123456", "+2290197123456"),
            // Côte d'Ivoire: the operator before mobiles.
            ("+22507123456", "+2250707123456"), ("+22505123456", "+2250505123456"),
            ("+22542123456", "+2250142123456"), ("+2250707123456", "+2250707123456"),
        ])
    func spellings(e164: String, line: String) {
        #expect(PhoneNumber.line(ofStored: e164) == line)
        #expect(PhoneNumber.line(ofStored: line) == line)
    }

    @Test(
        "is the number itself elsewhere",
        arguments: [
            "+14155552671", "+442070313000", "+4930123456", "+390669821234", "+79123456789", "+8613912345678",
            // Landlines and trunked radio in Brazil, a landline of Côte d'Ivoire, toll-free numbers in Argentina.
            "+551132345678", "+551177123456", "+22520123456", "+548001234567", "+5480012345678", "", "+",
            "5491123456789",
        ])
    func others(e164: String) {
        #expect(PhoneNumber.line(ofStored: e164) == e164)
    }

    @Test("is the same however a person writes it")
    func written() throws {
        let mobile = try PhoneNumber(reading: "011 15 2345-6789", region: "AR")
        let plain = try PhoneNumber(reading: "+54 11 2345 6789")
        #expect(mobile.e164 != plain.e164)
        #expect(mobile.line == plain.line)
    }
}
