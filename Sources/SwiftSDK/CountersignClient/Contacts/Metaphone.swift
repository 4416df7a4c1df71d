import Foundation

/// Metaphone (Lawrence Philips, 1990): a code for the sound of an English name, equal for `Catherine` and `Katherine`.
/// For names of other languages it is less precise.
public enum Metaphone {
    /// The code of a name: upper-case letters, and `0` for the sound of `th`. Accents and characters other than Latin
    /// letters are left out. The code of a name in another script is empty.
    public static func code(_ name: String) -> String {
        var letters = fold(name)
        for start in ["ae", "gn", "kn", "pn", "wr"] where letters.starts(with: start) { letters.removeFirst() }
        if letters.first == "x" { letters[0] = "s" }
        if letters.starts(with: "wh") { letters.remove(at: 1) }
        var sounds = ""
        for place in letters.indices where !isRepeated(place, letters) {
            sounds += Place(letters: letters, index: place).sound
        }
        return sounds
    }

    /// The name's letters, lower case and without accents.
    static func fold(_ name: String) -> [Character] {
        name.decomposedStringWithCompatibilityMapping.lowercased().unicodeScalars.compactMap { scalar in
            ("a"..."z").contains(Character(scalar)) ? Character(scalar) : nil
        }
    }

    /// Whether the letter is the first of two equal ones, of which only the second is pronounced.
    private static func isRepeated(_ place: Int, _ letters: [Character]) -> Bool {
        place + 1 < letters.count && letters[place] == letters[place + 1] && letters[place] != "c"
    }
}

/// A letter of a name with its neighbours.
private struct Place {
    let letters: [Character]
    let index: Int

    private func at(_ distance: Int) -> Character? {
        letters.indices.contains(index + distance) ? letters[index + distance] : nil
    }

    private func isVowel(_ distance: Int) -> Bool { at(distance).map("aeiou".contains) ?? false }
    /// Whether the letter softens the one before it.
    private func isFront(_ distance: Int) -> Bool { at(distance).map("eiy".contains) ?? false }
    private func follows(_ letters: String) -> Bool { self.letters.dropFirst(index + 1).starts(with: letters) }

    /// The letter's sound; empty for a silent one.
    var sound: String {
        guard let letter = at(0) else { return "" }
        switch letter {
        case "a", "e", "i", "o", "u": return index == 0 ? letter.uppercased() : ""
        case "b": return at(-1) == "m" && at(1) == nil ? "" : "B"
        case "c": return ofC
        case "d": return at(1) == "g" && isFront(2) ? "J" : "T"
        case "g": return ofG
        case "h": return ofH
        case "k": return at(-1) == "c" ? "" : "K"
        case "p": return at(1) == "h" ? "F" : "P"
        case "q": return "K"
        case "s": return follows("h") || follows("io") || follows("ia") ? "X" : "S"
        case "t": return ofT
        case "v": return "F"
        case "w", "y": return isVowel(1) ? letter.uppercased() : ""
        case "x": return "KS"
        case "z": return "S"
        default: return letter.uppercased()
        }
    }

    private var ofC: String {
        if follows("ia") { return "X" }
        if at(1) == "h" { return at(-1) == "s" ? "K" : "X" }
        if isFront(1) { return at(-1) == "s" ? "" : "S" }
        // Before any other sound. The second of two is silent.
        return at(-1) == "c" ? "" : "K"
    }

    private var ofG: String {
        if at(1) == "h" { return isVowel(2) ? "K" : "" }
        if at(1) == "n" { return at(2) == nil || letters.dropFirst(index + 2).elementsEqual("ed") ? "" : "K" }
        if at(-1) == "d", isFront(1) { return "" }
        return isFront(1) && at(-1) != "g" ? "J" : "K"
    }

    private var ofH: String {
        guard isVowel(1) else { return "" }
        return at(-1).map("cgpst".contains) ?? false ? "" : "H"
    }

    private var ofT: String {
        if follows("ia") || follows("io") { return "X" }
        if at(1) == "h" { return "0" }
        return follows("ch") ? "" : "T"
    }
}
