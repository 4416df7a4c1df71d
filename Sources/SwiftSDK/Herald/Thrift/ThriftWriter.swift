public extension ThriftMessage {
    /// The message in the binary protocol, strict.
    var bytes: [UInt8] {
        var bytes = (0x8001_0000 | UInt32(kind.rawValue)).bigEndianBytes
        bytes.appendText(Array(name.utf8))
        bytes += UInt32(bitPattern: sequence).bigEndianBytes
        bytes.append(body)
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func appendText(_ text: [UInt8]) {
        self += UInt32(clamping: text.count).bigEndianBytes + text
    }

    fileprivate mutating func append(_ fields: [ThriftField]) {
        for field in fields {
            append(field.value.type.rawValue)
            self += UInt16(bitPattern: field.id).bigEndianBytes
            append(field.value)
        }
        append(0)
    }

    fileprivate mutating func append(_ value: ThriftValue) {
        switch value {
        case .bool(let value): append(value ? 1 : 0)
        case .i8(let value): append(UInt8(bitPattern: value))
        case .i16(let value): self += UInt16(bitPattern: value).bigEndianBytes
        case .i32(let value): self += UInt32(bitPattern: value).bigEndianBytes
        case .i64(let value): self += UInt64(bitPattern: value).bigEndianBytes
        case .double(let value): self += value.bitPattern.bigEndianBytes
        case .bytes(let value): appendText(value)
        case .structure(let fields): append(fields)
        case .list(let type, let elements), .set(let type, let elements):
            append(type.rawValue)
            append(UInt32(clamping: elements.count), elements)
        case .map(let key, let type, let elements):
            append(key.rawValue)
            append(type.rawValue)
            append(UInt32(clamping: elements.count / 2), elements)
        }
    }

    private mutating func append(_ count: UInt32, _ elements: [ThriftValue]) {
        self += count.bigEndianBytes
        for element in elements { append(element) }
    }
}
