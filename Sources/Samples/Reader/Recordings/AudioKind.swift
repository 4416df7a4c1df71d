import Foundation

/// The format of a recording, by its first bytes. The name and the media type that a client sends are ignored.
enum AudioKind: String, Sendable {
    case m4a, mp3, wav, flac, ogg, caf

    /// The number of bytes that ``init(_:)`` reads.
    static let headLength = 12

    init?(_ head: Data) {
        let bytes = Array(head.prefix(Self.headLength))
        func has(_ text: String, at offset: Int = 0) -> Bool { bytes.dropFirst(offset).starts(with: text.utf8) }
        if has("ftyp", at: 4) {
            self = .m4a
        } else if has("RIFF"), has("WAVE", at: 8) {
            self = .wav
        } else if has("fLaC") {
            self = .flac
        } else if has("OggS") {
            self = .ogg
        } else if has("caff") {
            self = .caf
        } else if has("ID3") || bytes.starts(with: [0xFF]) && bytes.dropFirst().first.map({ $0 & 0xE0 == 0xE0 }) == true
        {
            self = .mp3
        } else {
            return nil
        }
    }

    var mediaType: String {
        switch self {
        case .m4a: "audio/mp4"
        case .mp3: "audio/mpeg"
        case .wav: "audio/wav"
        case .flac: "audio/flac"
        case .ogg: "audio/ogg"
        case .caf: "audio/x-caf"
        }
    }
}
