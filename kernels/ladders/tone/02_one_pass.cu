// product: tone
