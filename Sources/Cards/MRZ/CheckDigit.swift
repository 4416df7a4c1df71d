/// The check digit of ICAO 9303-3 §4.9: the sum of the characters' values, weighted 7, 3, 1, modulo 10.
enum CheckDigit {
    /// The digit over some characters, as an ASCII digit. `<` has the value 0, A to Z have 10 to 35.
    static func over(_ characters: some Sequence<UInt8>) -> UInt8 {
        var sum = 0
        var place = 0
        for character in characters {
            sum += value(character) * (place == 0 ? 7 : place == 1 ? 3 : 1)
            place = place == 2 ? 0 : place + 1
        }
        return UInt8(ascii: "0") + UInt8(sum % 10)
    }

    private static func value(_ character: UInt8) -> Int {
        if character.isDigit { return Int(character - UInt8(ascii: "0")) }
        return character.isCapital ? Int(character - UInt8(ascii: "A")) + 10 : 0
    }
}
